"""A canary in each secret goes through every flow, those that succeed and those that fail; then it is looked for.

Looked through are all pages and answers, redirects, headers, log records, what was printed, and every byte below the
data folder. A secret may stand where it is handed over, and nowhere else: :data:`RIGHTS` is the whole list.
"""

import base64
import hashlib
import json
import logging
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
import requests

from tests.fakes.browser import Browser, Page
from tests.fakes.installation import Installation
from tests.fakes.leaks import LeakDetector, Rights, check_files, check_logs
from tests.fakes.thirdparty import CLIENT_ID, CLIENT_SECRET, GOOD_KEY, ThirdParty
from webapp.kit.clock import HOUR, FakeClock
from webapp.people import start_tokens
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import account_state

PASSWORD = "canary-person-password-5e1"
WRONG_PASSWORD = "canary-person-wrong-password"
WRONG_KEY = "canary-api-key-wrong-"
ORIGIN = "https://app.example.com"
MOODS = ("refusing", "broken", "misnaming", "redirecting")

RIGHTS: Rights = {
    "provider client secret": [],
    "API key": [],
    "password": [],
    "authorization code": [],
    "OAuth client secret": [],
    "start token": [("GET", r"/start", "body"), ("POST", r"/start", "body")],  # the form that uses it
    "OAuth access token": [("POST", r"/v1/oauth/token", "body")],
    "Connect token": [
        ("POST", r"/v1/connect/proj_\w+/tokens", "body"),
        *(
            ("POST", path, place)  # the link itself; the body of a redirect repeats it
            for path in (r"/apps/\w+/connect", r"/accounts/apn_\w+/reconnection")
            for place in ("Location", "body")
        ),
    ],
    "code of an agent": [("POST", r"/mcp/oauth/authorize", place) for place in ("Location", "body")],
    "token of an agent": [("POST", r"/mcp/oauth/token", "body")],
    "session cookie": [("*", r"/.*", "Set-Cookie")],
    "access token": [("credentials", "", "")],
    "refresh token": [("credentials", "", "")],
}


@pytest.fixture
def detector() -> LeakDetector:
    """The secrets that the third party and the person bring along."""
    found = LeakDetector(RIGHTS)
    found.add("provider client secret", CLIENT_SECRET)
    for kind, beginning in (
        ("access token", "canary-access-token-"), ("refresh token", "canary-refresh-token-"),
        ("API key", "canary-api-key-"), ("authorization code", "canary-code-"), ("password", "canary-person-"),
    ):  # fmt: skip
        found.add(kind, beginning)
    return found


@dataclass
class Story:
    """Everybody who takes part. Each method is a flow through the real pages or the real API."""

    installation: Installation
    party: ThirdParty
    clock: FakeClock
    detector: LeakDetector
    browser: Browser

    def first_start(self) -> None:
        """The owner signs up by the start link, mistypes, signs out and in."""
        token = start_tokens.issue(self.installation.service.store, self.clock)
        self.detector.add("start token", str(token))
        self.browser.visit("/start?token=canary-person-no-such-token")
        page = f"/start?token={quote(str(token))}"
        self.browser.form(page, "/start", token=str(token), email="nobody", password=PASSWORD)
        names = {"app_name": "Acme Desk", "support_email": "help@acme.example"}
        made = self.browser.form(page, "/start", token=str(token), email="ada@example.com", password=PASSWORD, **names)
        assert made.status == 303, made.text
        self.browser.visit(page)
        self._know_cookies()
        self.browser.form("/settings", "/settings/password", current=WRONG_PASSWORD, password=PASSWORD)
        self.browser.form("/settings", "/settings/password", current=PASSWORD, password="short")
        self.browser.form("/settings", "/sign-out")
        self.browser.form("/sign-in", "/sign-in", email="ada@example.com", password=WRONG_PASSWORD)
        self.browser.form("/sign-in?next=/accounts", "/sign-in", email="ada@example.com", password=PASSWORD)
        self._know_cookies()
        self.browser.visit("/settings")

    def set_up(self) -> None:
        """The owner adds a client: the provider does not know it or is in a bad mood, then it is kept, checked and
        changed."""
        page, form = "/apps/acme/setup", {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
        for wrong in ({"client_id": "wrong"}, {"client_secret": CLIENT_SECRET[::-1]}, {"client_id": ""}):
            assert self.browser.form(page, page, **(form | wrong)).status == 422
        for mood in MOODS:
            self.party.token_mood, self.party.elsewhere = mood, f"{self.party.origin}/token"
            self.browser.form(page, page, **form)
        self.party.reset()
        assert self.browser.form(page, page, **form).status == 303
        clients = re.findall(r'"(/build/apps/oa_\w+)"', self.browser.visit("/build/apps").text)
        assert clients
        for client in clients:
            self.browser.form(client, client, name="Ours", **form)
            self.browser.form(client, client, name="Ours", client_id=CLIENT_ID, client_secret=f"{CLIENT_SECRET}-not")
            self.browser.form(client, f"{client}/check")
            self.browser.visit(f"{client}/removal")
        self.browser.visit("/build/apps")

    def keys(self) -> None:
        """From the dashboard to a key form: every refusal, then the right key; in a header and in the address."""
        for app in ("acme_keys", "acme_query"):
            for number, mood in enumerate(("good", *MOODS)):
                self.party.mood, self.party.elsewhere = mood, f"{self.party.origin}/me?{WRONG_KEY}"
                refused = self._send_key(self._to_link(app), f"{WRONG_KEY}{number}")
                assert refused.status == 422, refused.text
            self.party.reset()
            page = self._to_link(app)
            self._send_key(page, WRONG_KEY + "\x07")
            self._send_key(page, "")
            self.browser.visit(f"{page.url}?cancelled=1")
            done = self._send_key(page, GOOD_KEY)
            assert done.status == 200 and "connected" in done.text.lower()

    def sign_ins(self) -> None:
        """OAuth in a tab: denied, refused, broken, another account; then connected."""
        for decision in ("access_denied", "server_error"):
            self.party.decision = decision
            self._sign_in(self._to_link("acme"))
        self.party.decision = "allow"
        for mood in MOODS:
            self.party.token_mood, self.party.elsewhere = mood, f"{self.party.origin}/token"
            self._sign_in(self._to_link("acme"))
            self.party.token_mood, self.party.mood = "good", mood
            self._sign_in(self._to_link("acme"))
            self.party.mood = "good"
        assert len(self.installation.accounts()) == 2
        self._sign_in(self._to_link("acme"))
        assert len(self.installation.accounts()) == 3

    def crash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Something of ours breaks while secrets are at hand."""

        def broken(*_: object) -> None:
            raise RuntimeError("the test broke this")

        with monkeypatch.context() as patch:
            patch.setattr(account_state, "insert", broken)
            self._sign_in(self._to_link("acme"))
            self._send_key(self._to_link("acme_keys"), GOOD_KEY)
            self._api_keys(GOOD_KEY, self.installation.server_token())

    def account_pages(self) -> None:
        """Looking after accounts while the provider is well and while it is not."""
        for account in self.installation.accounts():
            path = f"/accounts/{account.id}"
            for mood in ("good", "broken", "redirecting", "refusing"):
                self.party.mood = self.party.token_mood = mood
                self.browser.form(path, f"{path}/test")
                self.browser.form(f"{path}/revocation", f"{path}/revocation")
                self.browser.visit(path)
            self.party.reset()
            self.party.identity = {"id": "u-2", "name": "Eve"}
            back = self.browser.form(path, f"{path}/reconnection")
            page = self._link(back)
            if account.app == "acme":
                assert self._sign_in(page).url.endswith("error=wrong_account")
                self.party.reset()
                self._sign_in(self._link(self.browser.form(path, f"{path}/reconnection")))
            self.browser.form(f"{path}/name", f"{path}/name", name="x" * 500)
            self.browser.form(f"{path}/name", f"{path}/name", name="Mine")
            self.browser.visit(f"{path}/disconnection")
        for path in ("/", "/apps", "/apps/acme", "/accounts", "/accounts?status=dead", "/logs", "/settings"):
            self.browser.visit(path)

    def frames(self) -> None:
        """A product embeds the link: the window, the polling, an error, and the end."""
        token = self._connect_token(allowed_origins=[ORIGIN], error_redirect_uri=f"{ORIGIN}/failed")
        for decision in ("access_denied", "allow"):
            self.party.decision = decision
            page = self.browser.frame(self.installation.link(token, "acme"))
            fields = page.hidden("/_static/connect/status")
            self.browser.post("/_static/connect/status", fields, HX_Request="true")
            begun = self.browser.get(page.start_link(window=True))
            ended = self.browser.follow(self.browser.get(begun.location))
            assert ended.status in (200, 400), ended.text
            self.browser.post("/_static/connect/status", fields, HX_Request="true")
            self.browser.post("/_static/connect/status", fields)
        self.browser.frame(self.installation.link(token, "nothing"))
        self.browser.frame(self.installation.link(token[:-1] + "x", "acme"))
        self._know_cookies()

    def api(self) -> None:
        """Servers and frontends: tokens, accounts, errors of every kind."""
        made, secret = oauth_clients.create(
            self.installation.service, name="Server", project_id=self.installation.project.id
        )
        self.detector.add("OAuth client secret", secret)
        grant = {"grant_type": "client_credentials", "client_id": made.id, "client_secret": secret}
        server = self._ask("POST", "/v1/oauth/token", json=grant).json()["access_token"]
        self.detector.add("OAuth access token", server)
        for bad in (
            {"data": {**grant, "client_secret": secret + "x"}}, {"data": {**grant, "scope": "nothing"}},
            {"json": {**grant, "grant_type": "password"}}, {"data": json.dumps(grant)},
            {"auth": (made.id, secret + "x")}, {"data": grant, "auth": (made.id, secret)},
            {"json": {**grant, "client_id": [secret]}},
        ):  # fmt: skip
            assert self._ask("POST", "/v1/oauth/token", **bad).status_code in (400, 401)
        token = self._connect_token(server)
        self._ask("GET", f"/v1/connect/tokens/{token}/validate")
        self._ask("GET", f"/v1/connect/tokens/{token}x/validate")
        for mood in ("good", *MOODS):
            self.party.mood = mood
            self._api_keys(WRONG_KEY, server)
        self.party.reset()
        self._api_keys(GOOD_KEY, server)
        self._below(
            "POST", "accounts", server, json={"app_slug": "acme_keys", "cfmap_json": GOOD_KEY, "connect_token": token}
        )
        self._below(
            "POST", "accounts", server, json={"app_slug": "acme_keys", "cfmap_json": "{}", "connect_token": token + "x"}
        )
        self._below("POST", "accounts", server, data=json.dumps({"cfmap_json": GOOD_KEY})[:-3])
        self._read_accounts(server, token)
        self._call_tools(server, token)
        self._refresh(server)

    def agents(self) -> None:
        """An agent is let in, refreshes, is replayed, asks at every door, and signs out."""
        redirect, verifier = "https://helper.example/cb", "v" * 43
        body = {"client_name": "Desk Helper", "redirect_uris": [redirect]}
        known = self._ask("POST", "/mcp/oauth/register", json=body).json()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        client = {"client_id": known["client_id"], "redirect_uri": redirect}
        wanted = {**client, "response_type": "code", "code_challenge": challenge, "code_challenge_method": "S256"}
        page = f"/mcp/oauth/authorize?{urlencode(wanted)}"
        for _ in range(2):
            allowed = self.browser.form(page, "/mcp/oauth/authorize", **wanted, answer="allow")
            code = self.detector.add("code of an agent", parse_qs(urlsplit(allowed.location).query)["code"][0])
            exchange = {**client, "grant_type": "authorization_code", "code": code, "code_verifier": verifier}
            self._ask("POST", "/mcp/oauth/token", data={**exchange, "code_verifier": "w" * 43})
            tokens = self._ask("POST", "/mcp/oauth/token", data=exchange).json()
            refresh = {**client, "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
            more = self._ask("POST", "/mcp/oauth/token", data=refresh).json()
            for name in ("access_token", "refresh_token"):
                self.detector.add("token of an agent", tokens[name])
                self.detector.add("token of an agent", more[name])
            for path in ("/mcp", f"/v1/connect/{self.installation.project.id}/accounts"):
                for bearer in (more["access_token"], more["access_token"] + "x", more["refresh_token"], code):
                    list_tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
                    self._ask("POST", path, json=list_tools, headers={"Authorization": f"Bearer {bearer}"})
            self._ask("POST", "/mcp/oauth/token", data=exchange)  # again: it ends what the code gave
            self._ask("POST", "/mcp/oauth/token", data=refresh)
            self._ask("POST", "/mcp/oauth/revoke", data={**client, "token": more["refresh_token"]})
        for path in ("/agents", "/agents/history", "/logs/audit"):
            self.browser.visit(path)

    def _call_tools(self, server: str, token: str) -> None:
        """Agents list tools and call them with values that no tool takes; some come with a token that is none."""
        arguments = {"prop": "api_key", "tool": "github_create_issue", "query": GOOD_KEY, "arguments": {"a": GOOD_KEY}}
        names = ("search_tools", "list_options", "begin_configuration", "run_tool", "nothing")
        calls: list[dict[str, Any]] = [
            {"method": "tools/call", "params": {"name": name, "arguments": arguments}} for name in names
        ]
        for call in ({"method": "tools/list"}, *calls, {"method": GOOD_KEY}):
            for bearer in (token, token + "x", server, server + "x", GOOD_KEY):
                headers = {"Authorization": f"Bearer {bearer}", "x-pd-external-user-id": "ada"}
                self._ask("POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, **call}, headers=headers)

    def _read_accounts(self, server: str, token: str) -> None:
        ids = [account.id for account in self.installation.accounts()]
        for path in ("accounts", "users/ada/accounts", "activity", *(f"accounts/{one}" for one in ids)):
            for one in (server, token):
                self._below("GET", f"{path}?extensions=true", one)
            self._below("GET", f"{path}?include_credentials=true", token)
            self._below("GET", f"{path}?include_credentials=true", server, credentials=True)
        for one in ids:
            self._below("POST", f"accounts/{one}/test", token)
            self._below("GET", f"accounts/{one}/history", token)
        for one in (server + "x", token + "x", GOOD_KEY, "", f"Bearer {server}"):
            assert self._below("GET", "accounts", one).status_code == 401

    def _refresh(self, server: str) -> None:
        """Tokens expire, and the provider is in no mood; then the Connect tokens expire."""
        for mood in (*MOODS, "good"):
            self.clock.advance(2 * HOUR)
            self.party.token_mood = mood
            server = self._ask_again(server)
            for account in self.installation.accounts():
                path = f"accounts/{account.id}?include_credentials=true"
                self._below("GET", path, server, credentials=True)
                self._below("GET", f"accounts/{account.id}/history", server)

    def _ask_again(self, server: str) -> str:
        self._below("GET", "accounts", server)  # it has expired
        return self.detector.add("OAuth access token", self.installation.server_token())

    def _api_keys(self, key: str, server: str) -> None:
        body = {
            "app_slug": "acme_keys",
            "cfmap_json": json.dumps({"api_key": key}),
            "connect_token": self._connect_token(),
        }
        self._below("POST", "accounts", server, json=body)

    def _connect_token(self, server: str | None = None, **order: Any) -> str:
        if server is None:
            return self.detector.add("Connect token", self.installation.token("ada", **order))
        made = self._below("POST", "tokens", server, json={"external_user_id": "ada", **order}).json()
        assert made["token"] in made["connect_link_url"]
        return self.detector.add("Connect token", made["token"])

    def _to_link(self, app: str) -> Page:
        """Press Connect in the dashboard: the page of the link."""
        return self._link(self.browser.form(f"/apps/{app}", f"/apps/{app}/connect"))

    def _link(self, pressed: Page) -> Page:
        assert pressed.status == 303, pressed.text
        found = re.search(r"ctok_[0-9a-f]{32}", pressed.location)
        assert found
        self.detector.add("Connect token", found[0])
        page = self.browser.follow(pressed)
        self._know_cookies()
        return page

    def _send_key(self, page: Page, key: str) -> Page:
        return self.browser.post("/_static/connect/keys", {**page.hidden("/_static/connect/keys"), "cf_api_key": key})

    def _sign_in(self, page: Page) -> Page:
        begun = self.browser.get(page.start_link())
        self._know_cookies()
        consented = self.browser.get(begun.location)
        ended = self.browser.visit(consented.location)
        self.browser.visit(consented.location)  # a reload
        return ended

    def _know_cookies(self) -> None:
        for cookie in self.browser.session.cookies:
            if cookie.name.startswith(("patchbay_session", "patchbay_link", "patchbay_signin")):
                self.detector.add("session cookie", str(cookie.value))

    def _ask(self, method: str, path: str, **more: Any) -> requests.Response:
        return self.detector.note(requests.request(method, self.installation.url + path, timeout=60, **more))

    def _below(
        self, method: str, path: str, token: str, *, credentials: bool = False, **more: Any
    ) -> requests.Response:
        return self.detector.note(self.installation.api(method, path, token, **more), credentials=credentials)


def test_no_canary_stands_where_it_has_no_right(
    installation: Installation,
    party: ThirdParty,
    clock: FakeClock,
    detector: LeakDetector,
    browser: Browser,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    story = Story(installation, party, clock, detector, browser)
    story.first_start()
    story.set_up()
    story.keys()
    story.sign_ins()
    story.crash(monkeypatch)
    story.account_pages()
    story.frames()
    story.api()
    story.agents()
    detector.answers += browser.seen
    assert list(detector.leaks(installation.url)) == []
    assert len(detector.answers) > 300 and len(detector.secrets) == len(RIGHTS)
    assert detector.entitled and any("oauth_access_token" in page.text for page in detector.answers), (
        "nobody got credentials"
    )
    check_logs(detector, caplog, capfd)
    check_files(detector, installation.data)
    installation.restart()  # which closes the store
    check_files(detector, installation.data)


def test_the_watch_would_find_a_leak() -> None:
    detector = LeakDetector(
        RIGHTS,
        {"password": {PASSWORD}, "Connect token": {"ctok_" + "0a" * 16}, "access token": {"canary-access-token-"}},
    )
    home = "http://127.0.0.1:1"
    encoded = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    detector.answers += [
        Page("GET", f"{home}/settings", 200, {}, f"<p>{PASSWORD}</p>"),
        Page("GET", f"{home}/settings", 200, {"X-Debug": f"Basic {encoded}"}, ""),
        Page("GET", f"{home}/_static/connect/ls_1", 200, {}, "ctok_" + "0a" * 16),
        Page("GET", f"{home}/v1/connect/accounts", 200, {}, '{"oauth_access_token": "canary-access-token-1"}'),
        Page("GET", f"http://elsewhere/?password={PASSWORD}", 200, {}, PASSWORD),
        Page("POST", f"{home}/v1/connect/proj_1/tokens", 200, {}, "ctok_" + "0a" * 16),
    ]
    assert len(list(detector.leaks(home))) == 5
    assert detector.lines_with_secrets(["a", f"b {PASSWORD} c", encoded, "d"]) == [f"b {PASSWORD} c", encoded]
    assert detector.lines_with_secrets(["a", "d"]) == []


@pytest.mark.embedded
def test_the_files_of_the_data_folder_are_the_owners_only(installation: Installation) -> None:
    for path in installation.data.glob("patchbay.db*"):
        assert path.stat().st_mode & 0o077 == 0, f"{path.name} can be read by others"
