"""The part of a declared provider that signs people in by OAuth 1.0a, written from RFC 5849: its sections 2.1 to 2.3,
and the signature of 3.4.2, made here anew.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote


@dataclass
class SignIns:
    """The sign-ins under way: where each comes back to, its secret and, once it was allowed, its verifier."""

    client_id: str
    client_secret: str
    callbacks: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    verifiers: dict[str, str] = field(default_factory=dict)

    def begin(self, method: str, place: str, authorization: str) -> dict[str, str] | None:
        """Temporary credentials for a request that the client signed; None for another."""
        said = members(authorization)
        if not self._fits(method, place, said, ""):
            return None
        token = secrets.token_urlsafe(8)
        self.callbacks[token], self.secrets[token] = said["oauth_callback"], secrets.token_urlsafe(8) + "+/="
        return {"oauth_token": token, "oauth_token_secret": self.secrets[token], "oauth_callback_confirmed": "true"}

    def allow(self, token: str) -> str:
        """Where a person goes who allowed it."""
        self.verifiers[token] = secrets.token_urlsafe(8)
        return f"{self.callbacks[token]}&oauth_token={token}&oauth_verifier={self.verifiers[token]}"

    def finish(self, method: str, place: str, authorization: str) -> bool:
        """Whether a request for the token is signed as it has to be, with the right verifier; it is, once."""
        said = members(authorization)
        token = said.get("oauth_token", "")
        if not self._fits(method, place, said, self.secrets.get(token, "")):
            return False
        self.secrets.pop(token)
        return said.get("oauth_verifier") == self.verifiers.pop(token, None)

    def _fits(self, method: str, place: str, said: Mapping[str, str], token_secret: str) -> bool:
        known = {name: value for name, value in said.items() if name != "oauth_signature"}
        text = "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in sorted(known.items()))
        base = "&".join(map(_encoded, (method, place, text)))
        key = f"{_encoded(self.client_secret)}&{_encoded(token_secret)}"
        signature = base64.b64encode(hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()).decode()
        return (said.get("oauth_consumer_key"), said.get("oauth_signature")) == (self.client_id, signature)


def members(authorization: str) -> dict[str, str]:
    """What an Authorization header by OAuth says (RFC 5849 section 3.5.1)."""
    return {name: unquote(value) for name, value in re.findall(r'(\w+)="([^"]*)"', authorization)}


def _encoded(text: str) -> str:
    return quote(text, safe="-._~")
