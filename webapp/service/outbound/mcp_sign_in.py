"""How one signs in to an MCP server, and a client that is registered there without anybody's work.

The server names its authorization server (RFC 9728), which says where people sign in and clients register (RFC 8414,
OpenID Connect Discovery); a server of revision 2025-03-26 is its own. A client is the address of a document that
describes it, where the issuer takes such ids, or is registered (RFC 7591). All of it is what the server says, so none
of it may lead a secret elsewhere: metadata of the server comes from its own origin and is about its own address,
metadata of the issuer names the very issuer that was asked, and codes, tokens and registrations go to the issuer's own
domain only. Specification: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization, read
2026-11-28.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webapp.service.outbound import oauth
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.oauth import DISCOVERY_DEADLINE_S, MAX_ANSWER, TokenAuthMethod
from webapp.service.outbound.templates import host_rule
from webapp.service.outbound.urls import HostRules, Url, parse_url

MOST_SCOPES = 100
CLIENT_NAME = "Patchbay"
_METHODS: tuple[TokenAuthMethod, ...] = ("none", "client_secret_post", "client_secret_basic")
"""Ways to prove which client asks, the best first: servers on the Python SDK want the client id in the body, too."""
_MEMBER = re.compile(r'\b(resource_metadata|scope)="([^"]{1,2000})"')
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")  # RFC 6749, 3.3
_CLIENT_ID = re.compile(r"[\x20-\x7e]{1,2000}")  # RFC 6749, appendix A.1
_SILENT = "The server asks for a sign-in, and does not say where people sign in."


@dataclass(frozen=True, slots=True)
class McpSignIn:
    """Where people sign in to a server. ``resource`` is what tokens are asked for (RFC 8707).

    ``register_url`` is empty where clients cannot register themselves. ``takes_documents``: whether the id of a client
    may be the address of a document about it (draft-ietf-oauth-client-id-metadata-document, section 5).
    """

    resource: str
    issuer: str
    authorize_url: str
    token_url: str
    revoke_url: str = ""
    register_url: str = ""
    iss_required: bool = False
    scopes: tuple[str, ...] = ()
    method: TokenAuthMethod = "none"
    takes_documents: bool = False


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A client as an authorization server registered it."""

    client_id: str
    secret: str | None = field(repr=False)
    method: TokenAuthMethod


def discover(client: OutboundClient, url: str, challenge: str = "") -> McpSignIn | Failure:
    """Where people sign in to the server at ``url``, whose refusal had the header WWW-Authenticate ``challenge``."""
    members = dict(_MEMBER.findall(challenge))
    about = _resource(client, url, members.get("resource_metadata", ""))
    if isinstance(about, Failure):
        return about
    issuer = _issuer(about, url)
    if isinstance(issuer, Failure):
        return issuer
    metadata = oauth.metadata(client, issuer)
    if isinstance(metadata, Failure):
        return metadata if about or metadata.kind != "bad_response" else Failure("bad_response", _SILENT)
    scopes = _scopes(members.get("scope", "").split()) or _scopes(about.get("scopes_supported"))
    return _read(metadata, issuer, str(about.get("resource") or url), scopes)


def client_metadata(redirect_uri: str, home: str, method: TokenAuthMethod = "none") -> dict[str, Any]:
    """What a client says of itself (RFC 7591, 2). ``home`` is the address of this installation."""
    return {
        "client_name": CLIENT_NAME,
        "client_uri": home,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    }


def register(client: OutboundClient, sign_in: McpSignIn, *, redirect_uri: str, home: str) -> RegisteredClient | Failure:
    """Register a client at the authorization server (RFC 7591, 3.1). ``home`` is the address of this installation."""
    scope = {"scope": " ".join(sign_in.scopes)} if sign_in.scopes else {}
    request = {**client_metadata(redirect_uri, home, sign_in.method), **scope}
    outcome = client.request(
        "POST",
        sign_in.register_url,
        headers={"Accept": "application/json"},
        json=request,
        deadline_s=DISCOVERY_DEADLINE_S,
        max_bytes=MAX_ANSWER,
        allowed_hosts=HostRules.of(host_rule(sign_in.register_url)),
    )
    if isinstance(outcome, Failure):
        return outcome
    parsed = outcome.json() if outcome.ok else None
    answer = parsed.value if parsed is not None and not isinstance(parsed, Failure) else None
    registered = _registered(answer, sign_in) if isinstance(answer, Mapping) else None
    if registered is None:
        return Failure("bad_response", f"The server registered no client (status {outcome.status}).")
    return registered


def _registered(answer: Mapping[str, Any], sign_in: McpSignIn) -> RegisteredClient | None:
    """The client in the answer to a registration; None where there is none that can be used."""
    client_id, secret = answer.get("client_id"), answer.get("client_secret")
    if not isinstance(client_id, str) or not _CLIENT_ID.fullmatch(client_id):
        return None
    wanted = answer.get("token_endpoint_auth_method", sign_in.method)
    method = next((each for each in _METHODS if each == wanted), None)
    if method is None or (method != "none" and not (isinstance(secret, str) and secret)):
        return None
    return RegisteredClient(client_id, None if method == "none" else str(secret), method)


def _resource(client: OutboundClient, url: str, named: str) -> Mapping[str, Any] | Failure:
    """The protected-resource metadata of the server; an empty one where it has none."""
    for address in _resource_urls(url, named):
        outcome = client.request(
            "GET",
            address,
            headers={"Accept": "application/json"},
            deadline_s=DISCOVERY_DEADLINE_S,
            max_bytes=MAX_ANSWER,
            allowed_hosts=HostRules.of(host_rule(url)),
        )
        if isinstance(outcome, Failure):
            return outcome
        parsed = outcome.json() if outcome.ok else None
        if parsed is None or isinstance(parsed, Failure) or not isinstance(parsed.value, Mapping):
            continue
        if not _is_about(str(parsed.value.get("resource")), url):
            return Failure("bad_response", "The server says that it is another one, so nobody signs in there.")
        return parsed.value
    return {}


def _resource_urls(url: str, named: str) -> Iterator[str]:
    """Where that metadata may be: at the address that the server named on its own origin, and the well-known ones."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    if named.startswith(f"{origin}/"):
        yield named
    path = parts.path.rstrip("/")
    if path:
        yield f"{origin}/.well-known/oauth-protected-resource{path}"
    yield f"{origin}/.well-known/oauth-protected-resource"


def _is_about(resource: str, url: str) -> bool:
    """Whether ``resource`` is the server at ``url``, or all of which that is a part (RFC 9728, 3.3)."""
    named, own = parse_url(resource), parse_url(url)
    if isinstance(named, Failure) or isinstance(own, Failure) or named.origin != own.origin:
        return False
    above, path = urlsplit(resource).path.rstrip("/"), urlsplit(url).path
    return path.rstrip("/") == above or path.startswith(f"{above}/")


def _issuer(about: Mapping[str, Any], url: str) -> str | Failure:
    servers = about.get("authorization_servers")
    first = next(iter(servers), None) if isinstance(servers, list) else None
    parts = urlsplit(url)
    issuer = first if isinstance(first, str) else f"{parts.scheme}://{parts.netloc}"
    checked = parse_url(issuer)
    if isinstance(checked, Failure) or (checked.scheme != "https" and parts.scheme == "https"):
        return Failure("bad_response", _SILENT)
    return issuer


def _read(metadata: Mapping[str, Any], issuer: str, resource: str, scopes: tuple[str, ...]) -> McpSignIn | Failure:
    """What the metadata of ``issuer`` says, as far as it may be believed."""
    names = ("authorization_endpoint", "token_endpoint", "revocation_endpoint", "registration_endpoint")
    authorize, token, revoke, registration = (_endpoint(metadata.get(name), issuer) for name in names)
    if not authorize or not token:
        return Failure("bad_response", _SILENT)
    for address in (token, revoke, registration):
        if address and not _is_related(address, issuer):
            other = urlsplit(address).hostname
            return Failure("bad_response", f"{urlsplit(issuer).hostname} sends secrets to {other}, so none is sent.")
    challenges = metadata.get("code_challenge_methods_supported")
    if not isinstance(challenges, list) or "S256" not in challenges:
        return Failure("bad_response", "The server's sign-in does not support PKCE with S256, which MCP requires.")
    offered = metadata.get("token_endpoint_auth_methods_supported")
    methods = offered if isinstance(offered, list) else ["client_secret_basic"]  # RFC 8414, section 2
    method = next((each for each in _METHODS if each in methods), None)
    if method is None:
        return Failure("bad_response", "The server's sign-in knows clients only in a way that is not known here.")
    return McpSignIn(
        resource=resource,
        issuer=str(metadata["issuer"]),
        authorize_url=authorize,
        token_url=token,
        revoke_url=revoke,
        register_url=registration,
        iss_required=metadata.get("authorization_response_iss_parameter_supported") is True,
        scopes=scopes,
        method=method,
        takes_documents=method == "none" and metadata.get("client_id_metadata_document_supported") is True,
    )


def _endpoint(value: Any, issuer: str) -> str:
    """``value`` where it is an address that is as encrypted as the issuer's; else empty."""
    url = parse_url(value) if isinstance(value, str) else None
    safe = isinstance(url, Url) and (url.scheme == "https" or issuer.startswith("http://"))
    return str(value) if safe and not any(mark in str(value) for mark in "{}") else ""


def _is_related(address: str, issuer: str) -> bool:
    """Whether ``address`` is at the issuer's host, or one of the two hosts is below the other."""
    host, own = urlsplit(address).hostname or "", urlsplit(issuer).hostname or ""
    return host == own or host.endswith(f".{own}") or (own.endswith(f".{host}") and "." in host)


def _scopes(value: Any) -> tuple[str, ...]:
    listed: Sequence[Any] = value if isinstance(value, list) else ()
    return tuple(dict.fromkeys(each for each in listed if isinstance(each, str) and _SCOPE.fullmatch(each)))[
        :MOST_SCOPES
    ]
