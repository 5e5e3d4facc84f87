"""A third party of the tests' own with everything in one place: consent, tokens, keys, and moods to answer in.

Its apps are ``acme`` (OAuth), ``acme_keys`` (a key in a header) and ``acme_query`` (one in the address); every secret
that it gives out or takes is a canary. It is written from RFC 6749, 7009 and 9207, not from any provider.
"""

import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote_plus, unquote_plus, urlencode, urlsplit

CLIENT_ID = "acme-client"
CLIENT_SECRET = "canary-provider-client-secret-9f2"
GOOD_KEY = "canary-api-key-good-71c"

_SHELF = """
name = "{name}"
description = "An app of the tests."
categories = ["developer_tools"]
docs_url = "https://docs.example.com/"
sources = ["https://docs.example.com/"]
base_url = "{origin}"
allowed_hosts = ["{origin}"]
logo = {{ letter = "A", color = "#336699" }}

[test]
url = "/me"
source = "https://docs.example.com/"

[identity]
id = "id"
name = "name"
source = "https://docs.example.com/"
"""

OAUTH_APP = (
    'slug = "acme"\nauth_type = "oauth"\n'
    + _SHELF
    + """
[[credentials]]
place = "bearer"
source = "https://docs.example.com/"

[oauth]
authorize_url = "{origin}/authorize"
token_url = "{origin}/token"
revoke_url = "{origin}/revoke"
issuer = "{origin}"
iss_required = true
refresh = "rotating"
sources = ["https://docs.example.com/"]
client = {{ console_url = "https://docs.example.com/", steps = ["Make one."], source = "https://docs.example.com/" }}
scopes = [{{ scope = "read", words = "see your things", functional = true }}]
"""
)

_KEY = """
[[fields]]
name = "api_key"
label = "API key"
secret = true

[[credentials]]
value = "{{api_key}}"
source = "https://docs.example.com/"
"""
KEY_APP = f'slug = "acme_keys"\nauth_type = "keys"\n{_SHELF}{_KEY}place = "header"\nname = "X-Api-Key"\n'
QUERY_APP = f'slug = "acme_query"\nauth_type = "keys"\n{_SHELF}{_KEY}place = "query"\nname = "key"\n'


class ThirdParty:
    """What it does and what it was asked; change the attributes between calls.

    ``mood``: ``good``, ``refusing`` (401), ``broken`` (500) or ``redirecting`` (302 to ``elsewhere``); but for
    ``good``, every answer repeats the whole request. ``decision``: ``allow``, or an OAuth error code.
    """

    def __init__(self) -> None:
        self.port = 0
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """As it was at first."""
        self.mood, self.token_mood, self.decision = "good", "good", "allow"
        self.elsewhere, self.redirect_code = "", 302
        self.identity: dict[str, Any] = {"id": "u-1", "name": "Ada"}
        self.calls: list[str] = []
        self.revoked: list[str] = []
        self.expires_in = 3600
        self.besides: dict[str, Any] = {}  # further members of the token answer
        self.while_exchanging: Callable[[], None] | None = None
        self.count = 0

    @property
    def origin(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def netloc(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self.port}"

    @property
    def apps(self) -> dict[str, str]:
        """The ``app.toml`` of its apps, by slug."""
        return {
            "acme": OAUTH_APP.format(name="Acme", origin=self.origin),
            "acme_keys": KEY_APP.format(name="Acme Keys", origin=self.origin),
            "acme_query": QUERY_APP.format(name="Acme Query", origin=self.origin),
        }

    def authorize(self, query: Mapping[str, str]) -> str:
        """Where consent sends the browser."""
        answer = {"code": self._next("code")} if self.decision == "allow" else {"error": self.decision}
        return f"{query['redirect_uri']}?{urlencode({**answer, 'state': query['state'], 'iss': self.origin})}"

    def token(self, form: Mapping[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """The token endpoint."""
        basic = base64.b64encode(f"{CLIENT_ID}:{quote_plus(CLIENT_SECRET)}".encode()).decode()
        if authorization != f"Basic {basic}":
            return 401, {"error": "invalid_client"}
        shown = form.get("code", form.get("refresh_token", ""))
        if not shown.startswith(("canary-code-", "canary-refresh-token-")):
            return 400, {"error": "invalid_grant"}
        return 200, {
            "access_token": self._next("access-token"),
            "refresh_token": self._next("refresh-token"),
            "token_type": "Bearer",
            "expires_in": self.expires_in,
            **self.besides,
        }

    def me(self, headers: Mapping[str, str], query: str) -> tuple[int, dict[str, Any]]:
        """Who the credential belongs to."""
        bearer = headers.get("Authorization", "")
        good = (
            headers.get("X-Api-Key") == GOOD_KEY
            or query == f"key={GOOD_KEY}"
            or bearer.startswith("Bearer canary-access-token-")
        )
        return (200, self.identity) if good else (401, {"error": f"bad key {headers.get('X-Api-Key')} {query}"})

    def _next(self, what: str) -> str:
        with self.lock:
            self.count += 1
            return f"canary-{what}-{self.count}"


@contextmanager
def running() -> Iterator[ThirdParty]:
    """A third party that answers until the block ends."""
    party = ThirdParty()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            party.calls.append(f"GET {parts.path}")
            if parts.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                return self._answer(303, {}, party.authorize(query))
            return self._in_mood(party.mood, "", lambda: party.me(self.headers, parts.query))  # type: ignore[arg-type]

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            party.calls.append(f"POST {self.path}")
            if self.path == "/revoke" and party.token_mood == "good":
                party.revoked.append(form["token"])
                return self._answer(200, {})
            if party.while_exchanging:
                party.while_exchanging()
            authorization = self.headers.get("Authorization", "")
            return self._in_mood(party.token_mood, body, lambda: party.token(form, authorization))

        def _in_mood(self, mood: str, body: str, good: Any) -> None:
            if mood == "good":
                return self._answer(*good())
            code = {"refusing": 401, "broken": 500, "redirecting": party.redirect_code, "misnaming": 400}[mood]
            sent = {**dict(self.headers), "body": unquote_plus(body), "address": self.path}
            basic = self.headers.get("Authorization", "").removeprefix("Basic ")
            sent["opened"] = base64.b64decode(basic).decode("latin-1") if basic and "Bearer" not in basic else ""
            # The misnaming mood puts what it was shown where an error code belongs.
            name = (sent["opened"].rpartition(":")[2] or "bad") if mood == "misnaming" else "bad"
            description = json.dumps(sent)
            answer = {"error": name, "error_description": description, "message": description, "key": sent}
            return self._answer(code, answer, party.elsewhere)

        def _answer(self, status: int, body: object, location: str = "") -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # who asked may be gone
                self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.request_queue_size = 128
    party.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield party
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
