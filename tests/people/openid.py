"""An OpenID provider without a network, after OpenID Connect Core 1.0 and Discovery 1.0: for what a certified one never
does. It answers as the outbound client would, and keeps its moods and the person's claims where tests can change them.
"""

import base64
import functools
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwk, jwt

from webapp.kit.clock import FakeClock
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

ISSUER = "https://id.example.com"
CLIENT_ID, CLIENT_SECRET = "patchbay", "a client secret"
ENV = {
    "PATCHBAY_PUBLIC_URL": "http://localhost",
    "PATCHBAY_OIDC_ISSUER": ISSUER,
    "PATCHBAY_OIDC_CLIENT_ID": CLIENT_ID,
    "PATCHBAY_OIDC_CLIENT_SECRET": CLIENT_SECRET,
    "PATCHBAY_OIDC_NAME": "Acme",
}


@functools.cache
def key(name: str) -> jwk.ECKey:
    """A signing key of the name, the same in every test."""
    return jwk.ECKey.generate_key("P-256", {"kid": name, "use": "sig", "alg": "ES256"})


@dataclass
class FakeOpenId:
    """The provider. ``person`` is what it knows of whoever signs in, ``token`` are claims that it signs instead."""

    clock: FakeClock
    down: bool = False
    userinfo: dict[str, Any] | None = None
    signed_with: str = "first"
    published: tuple[str, ...] = ("first",)
    facts: dict[str, Any] = field(default_factory=dict)
    token: dict[str, Any] = field(default_factory=dict)
    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "248289", "email": "alice@example.com", "email_verified": True}
    )
    asked: list[str] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def client(self) -> OutboundClient:
        """What talks to it."""
        return cast(OutboundClient, self)

    def consent(self, url: str) -> str:
        """The person signs in at the address ``url``: where the browser is sent back to."""
        query = dict(parse_qsl(urlsplit(url).query))
        assert url.startswith(f"{ISSUER}/authorize?") and query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT_ID and query["response_type"] == "code" and query["nonce"]
        code = secrets.token_urlsafe(8)
        self._codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': ISSUER})}"

    def request(self, method: str, url: str, **options: Any) -> Response | Failure:
        """As :class:`OutboundClient` has it."""
        path = urlsplit(url).path
        self.asked.append(path)
        if self.down:
            return Failure("connect", "id.example.com does not answer. Try again later.")
        if path == "/.well-known/openid-configuration":
            return self._answer(200, self._metadata())
        if path == "/keys":
            return self._answer(200, {"keys": [key(name).as_dict(private=False) for name in self.published]})
        if path == "/userinfo":
            assert options["headers"]["Authorization"] == "Bearer an-access-token"
            return self._answer(200, self.userinfo)
        assert (method, path) == ("POST", "/token")
        return self._grant(options)

    def _grant(self, options: dict[str, Any]) -> Response:
        form = {name: values[0] for name, values in parse_qs(options["data"].decode()).items()}
        query = self._codes.pop(form["code"], None)
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if query is None or query["code_challenge"] != proof or form["redirect_uri"] != query["redirect_uri"]:
            return self._answer(400, {"error": "invalid_grant"})
        seconds = self.clock() // 1000
        claims = {"iss": ISSUER, "aud": CLIENT_ID, "exp": seconds + 60, "iat": seconds, "nonce": query["nonce"]}
        claims |= {"sub": self.person["sub"]} if self.userinfo is not None else self.person
        claims = {name: value for name, value in {**claims, **self.token}.items() if value is not None}
        signed = jwt.encode({"alg": "ES256", "kid": self.signed_with}, claims, key(self.signed_with))
        return self._answer(200, {"access_token": "an-access-token", "token_type": "Bearer", "id_token": signed})

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
            "userinfo_endpoint": f"{ISSUER}/userinfo",
            "id_token_signing_alg_values_supported": ["ES256", "none", "HS256"],
            "authorization_response_iss_parameter_supported": True,
            **self.facts,
        }

    def _answer(self, status: int, body: Any) -> Response:
        return Response(status, {"content-type": "application/json"}, json.dumps(body).encode(), ISSUER)
