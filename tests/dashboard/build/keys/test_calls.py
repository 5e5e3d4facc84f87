"""Calls on API & keys: those in the logs, those that pages made, nothing secret among them, and code that runs."""

import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import g
from werkzeug.serving import make_server

from tests.dashboard.embedded import BASE, Browser, Embedded
from tests.dashboard.trigger.trigger_page import news_url
from webapp.dashboard import gate
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.dashboard import KEY, Dashboard, Viewer
from webapp.dashboard.gate import CALLS_KEPT
from webapp.service.domain.access import api_calls, connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest

URL = "/build/keys"
CALLS = f"{URL}/calls"
PAGES = f"{CALLS}/pages"
TYPED = "canary-7f3a"
CALL = CallRecord("GET", "/v1/connect/apps", "development", True, None, 200, 5, 0, "")


def board(office: Embedded) -> Dashboard:
    dashboard: Dashboard = office.app.extensions[KEY]
    dashboard.overviews.clear()
    return dashboard


def kept(office: Embedded, role: str) -> list[CallRecord]:
    return list(board(office).calls.get(office.people[role].id) or ())


def listed(browser: Browser, query: str = "") -> str:
    """The calls that pages made."""
    return browser.get(PAGES + query).partition('id="results"')[2]


@pytest.fixture
def developer(office: Embedded) -> Browser:
    board(office).calls.clear()
    return office.browser("developer")


def test_calls_in_the_logs_are_those_of_the_environment(office: Embedded, developer: Browser) -> None:
    token = connect_tokens.create(office.service, office.scene, TokenRequest("user-77"), client_id=None)["token"]
    path = f"/v1/connect/{office.project.id}/deployed-triggers/dc_none"
    head = {"Authorization": f"Bearer {token}", "x-pd-environment": "development"}
    answer = office.app.test_client().get(path, base_url=BASE, headers=head)
    assert answer.status_code == 404 and answer.json
    api_calls.flush(office.service)
    page = developer.get(f"{CALLS}?user=user-77")
    assert "GET /v1/connect/…/deployed-triggers/dc_none" in page and "user-77" in page and 'name="kind"' not in page
    entry = re.search(r'hx-get="(/build/keys/calls/logs/call_\w+)"', page)
    assert entry
    opened = developer.get(entry[1], htmx=True)
    assert answer.json["error"] in opened and "curl" in opened and "<html" not in opened
    assert "Nothing matches" in developer.get(f"{CALLS}?status=succeeded&user=nobody", htmx=True)
    office.browser("member").get(entry[1], code=404)
    office.browser("member").get(f"{CALLS}/logs/news", code=404)


def test_what_pages_asked_is_listed_newest_first(office: Embedded, developer: Browser) -> None:
    assert "No calls yet" in listed(developer)
    developer.get("/triggers")
    developer.get("/accounts")
    calls = kept(office, "developer")
    (call,) = [call for call in calls if "/accounts?" in call.address]
    assert (call.method, call.status, call.as_user) == ("GET", 200, True)
    text = listed(developer)
    assert text.index(calls[-1].id) < text.index(calls[0].id) and call.id in text
    developer.get(CALLS)
    developer.get(news_url(text), htmx=True, code=204)
    assert kept(office, "developer") == calls, "the page lists its own calls"
    assert not [call for call in calls if call.address.endswith(("/tokens", "/oauth/token"))]


def test_what_a_page_asks_by_itself_is_not_kept(office: Embedded, developer: Browser) -> None:
    url = news_url(developer.get("/logs"))
    before = kept(office, "developer")
    developer.get(url, htmx=True, code=204)
    assert kept(office, "developer") == before


@pytest.mark.parametrize("role", ["member", None])
def test_of_members_and_visitors_nothing_is_kept(role: str | None, office: Embedded, developer: Browser) -> None:
    if role:
        office.browser(role).get("/accounts")
    else:
        office.app.test_client().get("/accounts", base_url=BASE)
    assert not any(kept(office, each) for each in office.people)


def test_nobody_sees_the_calls_of_another(office: Embedded, developer: Browser) -> None:
    developer.get("/accounts")
    assert "No calls yet" in listed(office.browser("owner"))
    foreign = kept(office, "developer")[0].id
    office.browser("owner").get(f"{PAGES}/{foreign}", code=404)


def test_a_person_s_last_fifty_are_kept(office: Embedded, developer: Browser) -> None:
    gate.note_call(CALL)  # of no request at all
    with office.app.test_request_context("/accounts", base_url=BASE):
        g.person, g.viewer = office.people["developer"], Viewer("u_dev", "developer", board(office).client)
        for at in range(CALLS_KEPT + 2):
            gate.note_call(replace(CALL, at=at))
    assert [call.at for call in board(office).calls.get("u_dev") or ()] == list(range(2, CALLS_KEPT + 2))


def test_filters_and_pages_of_what_is_in_memory(office: Embedded, developer: Browser) -> None:
    user, now = office.people["developer"].id, office.service.clock()
    records = [
        replace(CALL, address=f"/v1/n{at}.", status=404 if at < 21 else 0 if at == 21 else 200, at=now, id=f"call_{at}")
        for at in range(60)
    ]
    board(office).calls.put(user, deque([*records, replace(CALL, environment="production", at=now)]))

    def numbers(text: str) -> list[int]:
        return [int(number) for number in re.findall(r"/v1/n(\d+)\.", text)]

    first = listed(developer)
    older = re.search(r'rel="next" href="([^"]+)"', first)
    assert numbers(first) == list(range(59, 39, -1)) and older
    rest = developer.get(older[1])
    assert numbers(rest) == list(range(39, 19, -1)) and "Back to the newest" in rest
    failed = listed(developer, "?status=failed")
    assert numbers(failed) == list(range(21, 1, -1)) and "No answer" in failed
    assert numbers(listed(developer, "?period=hour")) == list(range(59, 39, -1))
    assert "Nothing matches" in listed(developer, "?since=2999-01-01T00:00")
    assert "Nothing matches" in listed(developer, "?until=2000-01-01T00:00")


def test_a_failure_says_why_and_is_found(office: Embedded, developer: Browser) -> None:
    developer.get("/accounts")
    developer.get("/accounts/apn_none", code=404)
    text = listed(developer, "?status=failed")
    assert "/accounts/apn_none" in text and "There is no such account." in text
    assert "/accounts?" not in text


def test_what_was_typed_never_appears(office: Embedded, developer: Browser) -> None:
    owner, timer = office.browser("owner"), "/apps/schedule/triggers/schedule-custom-interval"
    secret = {"client_id": f"id-{TYPED}", "client_secret": TYPED, "anyway": "1"}
    schedule = {"d": ["cron", "deploy:name", "deploy:url", "deploy:emit"], "mode.cron": "interval", "n.cron": "5"}
    watched = {"u.cron": "minutes", "t.deploy:name": TYPED, "t.deploy:url": f"https://10.0.0.1/{TYPED}", "once": "a"}
    for path, fields in (
        (f"{URL}/webhooks", {"url": f"http://10.0.0.1/{TYPED}"}),
        (f"{URL}/project-webhook", {"url": f"https://10.0.0.1/{TYPED}"}),
        ("/build/workflows", {"name": TYPED, "url": f"https://10.0.0.1/{TYPED}"}),
        ("/apps/github/setup", secret),
        (f"{timer}/deployment", schedule | watched),
    ):
        owner.send(path, fields)
    calls = kept(office, "owner")
    nouns = " ".join(call.address for call in calls if call.method in ("POST", "PUT"))
    for noun in ("/v1/webhooks", "/webhook", "/workflows", "/oauth_apps", "/triggers/deploy"):
        assert noun in nouns, nouns
    assert TYPED not in str(calls) and TYPED not in listed(owner)
    assert all(TYPED not in owner.get(f"{PAGES}/{call.id}") for call in calls)


@pytest.fixture
def served(office: Embedded) -> Iterator[str]:
    """Where the installation listens, which takes every name for its own."""

    def as_itself(environ: dict[str, Any], start_response: Any) -> Any:
        return office.app({**environ, "HTTP_HOST": urlsplit(BASE).netloc}, start_response)

    server = make_server("localhost", 0, as_itself, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_code_that_is_shown_runs(
    office: Embedded,
    developer: Browser,
    served: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    developer.get("/apps")
    request = TokenRequest(office.people["developer"].id)
    token = str(connect_tokens.create(office.service, office.scene, request, client_id=None)["token"])
    (call,) = [call for call in kept(office, "developer") if call.address.startswith("/v1/connect/apps?")][:1]
    opened = developer.get(f"{PAGES}/{call.id}", htmx=True).partition("own code")[2]
    codes = [unescape(code).replace(BASE, served) for code in re.findall(r"<pre[^>]*>(.*?)</pre>", opened, re.DOTALL)]
    monkeypatch.setenv("ACCESS_TOKEN", token)
    for command, code in (("bash", codes[0]), ("node", codes[2])):
        if not shutil.which(command):
            continue
        option = ["-euc"] if command == "bash" else ["--input-type=module", "-e"]
        done = subprocess.run(
            [command, *option, code], env=dict(os.environ), capture_output=True, text=True, check=True, timeout=30
        )
        assert '"data"' in done.stdout, done
    exec(codes[1], {})
    assert '"data"' in capsys.readouterr().out
