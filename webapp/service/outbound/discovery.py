"""The addresses of an authorization server, as it says them itself: RFC 8414, section 3, or OpenID Connect Discovery.

They are taken only from metadata that names the very issuer which was asked (RFC 8414, 3.3), and never without
encryption where the issuer has it.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.outcomes import Failure, Json
from webapp.service.outbound.templates import host_rule
from webapp.service.outbound.urls import HostRules, Url, parse_url

MAX_ANSWER = 256 * 1024
DEADLINE_S = 8.0
ENDPOINTS = {
    "authorize_url": "authorization_endpoint",
    "token_url": "token_endpoint",
    "revoke_url": "revocation_endpoint",
}
_NEEDED = ("authorize_url", "token_url")
_NONE = Failure("bad_response", "The issuer does not say where people sign in. Check its address.")


def discover(client: OutboundClient, issuer: str) -> dict[str, str] | Failure:
    """The addresses by the names that an app's ``[oauth]`` has for them; why they could not be had."""
    answer: dict[str, str] | Failure = _NONE
    for url in _places(issuer):
        outcome = client.request(
            "GET",
            url,
            headers={"Accept": "application/json"},
            deadline_s=DEADLINE_S,
            max_bytes=MAX_ANSWER,
            allowed_hosts=HostRules.of(host_rule(issuer)),
        )
        if isinstance(outcome, Failure):
            return outcome
        parsed = outcome.json() if outcome.ok else _NONE
        answer = _read(parsed.value, issuer) if isinstance(parsed, Json) else answer
        if not isinstance(answer, Failure):
            return answer
    return answer


def _places(issuer: str) -> tuple[str, str]:
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    return (
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
        f"{issuer.rstrip('/')}/.well-known/openid-configuration",
    )


def _read(metadata: Any, issuer: str) -> dict[str, str] | Failure:
    if not isinstance(metadata, Mapping) or str(metadata.get("issuer")).rstrip("/") != issuer.rstrip("/"):
        return _NONE
    urls = {name: metadata.get(member) for name, member in ENDPOINTS.items() if metadata.get(member)}
    if any(name not in urls for name in _NEEDED) or not all(_is_fit(url, issuer) for url in urls.values()):
        return _NONE
    return {name: str(url) for name, url in urls.items()}


def _is_fit(text: Any, issuer: str) -> bool:
    url = parse_url(text) if isinstance(text, str) else None
    return isinstance(url, Url) and (url.scheme == "https" or issuer.startswith("http://"))
