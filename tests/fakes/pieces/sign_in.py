"""A provider's authorization server (RFC 6749, with RFC 7636), at whose page somebody decides in a browser.

https://www.rfc-editor.org/rfc/rfc6749, https://www.rfc-editor.org/rfc/rfc7636
"""

import base64
import hashlib
import html
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tests.fakes.pieces.web import Asked, Said

PAGE = """<!doctype html><html lang="en"><title>Consent</title><h1>May {client} act for you?</h1>
<p>It asks for {scope}.</p><a href="{allow}">Allow</a> <a href="{deny}">Deny</a></html>"""


@dataclass
class SignIn:
    """Everybody is ``person``. ``live`` are the access tokens that still work, the newest last."""

    client_id: str
    client_secret: str
    person: str
    expires_in: int | None = None
    pkce: bool = True
    more: Mapping[str, str] = field(default_factory=dict)
    live: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _refresh: set[str] = field(default_factory=set)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def authorize(self, asked: Asked) -> Said:
        """The page on which the person decides; both answers lead back with the ``state`` that came."""
        query = asked.query
        if query.get("client_id") != self.client_id or query.get("response_type") != "code":
            return self._no("unauthorized_client")
        if self.pkce and (query.get("code_challenge_method") != "S256" or not query.get("code_challenge")):
            return self._no("invalid_request")
        code = f"code-{next(self._numbers)}"
        self._codes[code] = query
        back = {name: f"{query['redirect_uri']}?{urlencode(each)}" for name, each in {
            "allow": {"code": code, "state": query["state"]},
            "deny": {"error": "access_denied", "state": query["state"]},
        }.items()}  # fmt: skip
        texts = {"client": self.client_id, "scope": query.get("scope", "nothing"), **back}
        page = PAGE.format(**{name: html.escape(text) for name, text in texts.items()})
        return Said(page.encode(), headers={"content-type": "text/html; charset=utf-8"})

    def token(self, asked: Asked) -> Said:
        """A token for a code, or for a refresh token, which is used up."""
        body = asked.body
        client = _basic(asked) or (body.get("client_id"), body.get("client_secret"))
        if client != (self.client_id, self.client_secret):
            return self._no("invalid_client", 401)
        if body.get("grant_type") == "refresh_token":
            if body.get("refresh_token") not in self._refresh:
                return self._no("invalid_grant")
            self._refresh.clear()
            self.live.clear()
            return self._granted()
        sent = self._codes.pop(body.get("code", ""), None)
        if sent is None or sent["redirect_uri"] != body.get("redirect_uri"):
            return self._no("invalid_grant")
        if self.pkce and _challenge(body.get("code_verifier", "")) != sent["code_challenge"]:
            return self._no("invalid_grant")
        return self._granted()

    def revoke(self) -> None:
        """The person takes the access back at the provider."""
        self.live.clear()
        self._refresh.clear()

    def _granted(self) -> Said:
        number = next(self._numbers)
        access, refresh = f"token-{self.person}.{number}", f"refresh-{number}"
        self.live.append(access)
        answer: dict[str, object] = {"access_token": access, "token_type": "Bearer", **self.more}
        if self.expires_in is not None:
            self._refresh.add(refresh)
            answer |= {"expires_in": self.expires_in, "refresh_token": refresh}
        return Said(answer)

    def _no(self, error: str, status: int = 400) -> Said:
        self.refused.append(error)
        return Said({"error": error}, status)


def _basic(asked: Asked) -> tuple[str, str] | None:
    kind, _, text = asked.headers.get("authorization", "").partition(" ")
    if kind != "Basic":
        return None
    name, _, secret = base64.b64decode(text).decode().partition(":")
    return name, secret


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
