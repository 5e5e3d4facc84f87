"""What is around a served folder while somebody follows the manual: providers, and the person at the browser.

Providers are data: what each address answers, as its public reference has it. Requests to their hosts are answered
here, and never leave the tests. What happens at a provider, or in the browser, begins when a line is printed that says
that it is waited for.
"""

import hashlib
import hmac
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from urllib3._collections import HTTPHeaderDict

from tests.fakes.browser import Browser
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Message, Transport

REPOSITORY = "https://api.github.com/repos/octocat/hello-world"
GMAIL = "https://gmail.googleapis.com/gmail/v1/users/me"
MAIL = {
    "id": "m1",
    "payload": {
        "mimeType": "text/plain",
        "headers": [
            {"name": "From", "value": "Grace Hopper <grace@example.com>"},
            {"name": "Subject", "value": "Nanoseconds"},
        ],
        "body": {"data": urlsafe_b64encode(b"They fit into a hand.").decode()},
    },
}
ISSUER = "https://id.example.com"
GRANTED = "<all that was asked for>"
ANSWERS: Mapping[str, Any] = {
    "POST https://github.com/login/oauth/access_token": {
        "access_token": "gho_1", "scope": GRANTED, "token_type": "bearer",
    },
    "GET https://api.github.com/user": {"id": 1, "login": "octocat"},
    f"GET {REPOSITORY}/hooks": [],
    f"POST {REPOSITORY}/hooks": {"id": 5},
    "POST https://slack.com/api/oauth.v2.access": {
        "ok": True, "team": {"id": "T1"}, "authed_user": {"id": "U1", "access_token": "xoxp-1", "scope": GRANTED},
    },
    "POST https://slack.com/api/auth.test": {"ok": True, "user_id": "U1", "user": "ada", "team": "Acme"},
    "POST https://slack.com/api/chat.postMessage": {"ok": True, "channel": "C0123456789", "ts": "1.1"},
    "POST https://oauth2.googleapis.com/token": {
        "access_token": "ya29", "refresh_token": "1//r", "expires_in": 3599, "token_type": "Bearer", "scope": GRANTED,
    },
    "GET https://openidconnect.googleapis.com/v1/userinfo": {"sub": "7", "email": "ada@example.com"},
    f"GET {GMAIL}/profile": {"historyId": "100"},
    f"GET {GMAIL}/messages": {"messages": []},
    f"GET {GMAIL}/messages/m1": MAIL,
    f"GET {GMAIL}/history": {"historyId": "100"},
    f"GET {ISSUER}/.well-known/openid-configuration": {
        "issuer": ISSUER, "authorization_endpoint": f"{ISSUER}/authorize", "token_endpoint": f"{ISSUER}/token",
        "jwks_uri": f"{ISSUER}/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    },
    f"GET {ISSUER}/keys": {"keys": [{"kty": "RSA", "kid": "1", "n": "AQAB", "e": "AQAB"}]},
}  # fmt: skip
HOSTS = frozenset(urlsplit(request.partition(" ")[2]).hostname for request in ANSWERS)


@dataclass
class World:
    """``asked`` is every request to a provider, with its body; ``home`` and ``sandbox`` are the installation's."""

    home: str
    sandbox: str
    wait: Callable[[float], None]
    answers: dict[str, Any] = field(default_factory=lambda: dict(ANSWERS))
    asked: list[tuple[str, Any]] = field(default_factory=list)
    granted: str = ""

    def answer(self, message: Message) -> Response:
        """What a provider answers; an address that it does not have is 404."""
        request = f"{message.method} {str(message.url).partition('?')[0]}"
        sent = message.body if isinstance(message.body, bytes) else b""
        self.asked.append((request, _read(sent)))
        found = self.answers.get(request, (404, {"message": "Not Found"}))
        status, body = found if isinstance(found, tuple) else (200, found)
        headers = HTTPHeaderDict({"Content-Type": "application/json"})
        return Response(status, headers, json.dumps(body).replace(GRANTED, self.granted).encode(), str(message.url))

    def saw(self, line: str) -> None:
        """Do what a person, or the world, does when ``line`` is printed."""
        for pattern, do in HAPPENS.items():
            if found := re.search(pattern, line):
                do(self, found)

    def sent(self, request: str) -> Any:
        """The body of the last such request."""
        return next(body for one, body in reversed(self.asked) if one == request)

    def allow(self, found: re.Match[str]) -> None:
        """Open a Connect Link, and allow all that is asked for."""
        browser = Browser(self.home)
        try:
            page = browser.visit(found[0])
            begun = browser.get(page.start_link())
            away = browser.follow(begun, until=self.home) if urlsplit(begun.location).hostname not in _NAMES else begun
            if away.status == 200:
                allowed = {**away.hidden(), "person": "per_ada", "behaviour": "normal", "decision": "allow"}
                back = browser.post(f"{self.sandbox}/oauth/authorize", allowed).location
            else:
                query = {name: values[0] for name, values in parse_qs(urlsplit(away.location).query).items()}
                self.granted = query.get("user_scope") or query["scope"]
                issuer = {"iss": "https://accounts.google.com"} if "google" in away.location else {}
                back = f"{query['redirect_uri']}?{urlencode({'code': 'c1', 'state': query['state'], **issuer})}"
            done = browser.visit(back)
            assert done.status == 200, done.text
        finally:
            browser.close()

    def use_product(self, found: re.Match[str]) -> None:
        """Press the button of the tutorial's product, as its page's script goes on."""
        page = requests.get(found[1], timeout=20).text
        assert 'Patchbay.connect({ tokenCallback, app: "sandbox" })' in page
        token = requests.post(f"{found[1]}/token", timeout=20).json()["token"]
        link = f"{self.home}/_static/connect.html?token={token}&connectLink=true&app=sandbox"
        self.saw(f"Open {link}")

    def see_portal(self, found: re.Match[str]) -> None:
        """Open the page with the portal, which gets a token and frames its pages."""
        page = requests.get(found[1], timeout=20).text
        assert 'Patchbay.portal({ tokenCallback, element: "#portal" })' in page
        token = requests.post(f"{found[1]}/token", timeout=20).json()["token"]
        origin = f"{urlsplit(found[1]).scheme}://{urlsplit(found[1]).netloc}"
        headers = {"Referer": f"{origin}/", "Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site"}
        shown = requests.get(f"{self.home}/portal?token={token}", headers=headers, timeout=20)
        assert shown.status_code == 200 and origin in shown.headers["Content-Security-Policy"], shown.text
        assert "Accounts" in shown.text and "Triggers" in shown.text, shown.text

    def open_issue(self, _: re.Match[str]) -> None:
        """GitHub tells its webhook of an issue."""
        hook = self.sent(f"POST {REPOSITORY}/hooks")["config"]
        body = json.dumps({"action": "opened", "issue": {"number": 7, "title": "It rings twice"}}).encode()
        signature = hmac.new(hook["secret"].encode(), body, hashlib.sha256).hexdigest()
        headers = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "d1", "X-Hub-Signature-256": f"sha256={signature}"}
        answer = requests.post(hook["url"], body, headers={"Content-Type": "application/json", **headers}, timeout=20)
        assert answer.status_code == 200, answer.text

    def end_access(self, _: re.Match[str]) -> None:
        """Somebody revokes, at the sandbox, what they had allowed."""
        browser = Browser(self.sandbox)
        try:
            for revoke in re.findall(r'action="(/accounts/[^"]+/revoke)"', browser.visit("/accounts").text):
                assert browser.form("/accounts", revoke).status == 303
        finally:
            browser.close()

    def receive_mail(self, _: re.Match[str]) -> None:
        """A mail comes into the mailbox, and a quarter of a minute passes."""
        added = [{"messagesAdded": [{"message": {"id": "m1"}}]}]
        self.answers[f"GET {GMAIL}/history"] = {"history": added, "historyId": "101"}
        self.wait(16)


_NAMES = {"github.com", "slack.com", "accounts.google.com"}
HAPPENS: Mapping[str, Callable[[World, re.Match[str]], None]] = {
    r"http\S+/_static/connect\.html\?\S+": World.allow,
    r"Running on (http://localhost:\d+)": World.use_product,
    r"The settings are at (http://localhost:\d+)": World.see_portal,
    r"Waiting for accounts": World.end_access,
    r"Waiting for New issue": World.open_issue,
    r"Waiting for New email received": World.receive_mail,
}


def exchange(world: World) -> Any:
    """:meth:`Transport.exchange` in this ``world``: providers answer here, and everybody else as always."""
    real = Transport.exchange

    def inside(transport: Transport, message: Message, *more: Any, **options: Any) -> Any:
        return world.answer(message) if message.url.host in HOSTS else real(transport, message, *more, **options)

    return inside


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
