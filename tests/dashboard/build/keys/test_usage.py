"""The chart of usage on API & keys.

The calls of pages, on API & keys: whose are kept, nothing secret among them, and code that runs.
"""

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
from webapp.dashboard import gate
from webapp.dashboard.build.keys.usage import DAYS, by_day
from webapp.dashboard.client.build.usage import UsageHour
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.dashboard import KEY, Dashboard, Viewer
from webapp.dashboard.gate import CALLS_KEPT
from webapp.kit.clock import DAY, HOUR, SECOND, FakeClock
from webapp.service.domain.access import tokens
from webapp.service.domain.access.tokens import TokenRequest
from webapp.service.domain.projects import usage

URL = "/build/keys"
CALLS = f"{URL}/calls"
TYPED = "canary-7f3a"
CALL = CallRecord("GET", "/v1/connect/apps", "development", True, None, 200, 5, 0, "")


def test_hours_add_up_by_day() -> None:
    starts = (DAY, DAY + HOUR, 40 * DAY)
    hours = [UsageHour.model_construct(start=at // SECOND, runs=1, proxied=2, events=3) for at in starts]
    days = by_day(hours, first=DAY)
    assert len(days) == DAYS and days[0].start == DAY
    assert (days[0].runs, days[0].proxied, days[0].events, days[0].total) == (2, 4, 6, 12)
    assert sum(day.total for day in days) == 12, "what lies outside is left out"


def test_the_page_says_what_was_used(office: Embedded, office_clock: FakeClock) -> None:
    with office.service.store.write() as tx:
        tx.run("DELETE FROM usage")
    assert "No usage yet" in office.browser().get(f"{URL}/usage")
    with office.service.store.write() as tx:
        usage.add(tx, office.scene, "run", office_clock(), by=1200)
        usage.add(tx, office.scene, "event", office_clock() - DAY)
    page = office.browser().get(f"{URL}/usage")
    for words in ("1,200 actions run", "0 proxy requests", "1 event delivered", '<td class="num">1,200</td>'):
        assert words in page


def board(office: Embedded) -> Dashboard:
    dashboard: Dashboard = office.app.extensions[KEY]
    dashboard.overviews.clear()
    return dashboard


def kept(office: Embedded, role: str) -> list[CallRecord]:
    return list(board(office).calls.get(office.people[role].id) or ())


def section(browser: Browser, query: str = "") -> str:
    return browser.get(CALLS + query).partition('id="calls"')[2]


@pytest.fixture
def developer(office: Embedded) -> Browser:
    board(office).calls.clear()
    return office.browser("developer")


def test_what_pages_asked_stands_there_newest_first(office: Embedded, developer: Browser) -> None:
    assert "None yet." in section(developer)
    developer.get("/triggers")
    developer.get("/accounts")
    calls = kept(office, "developer")
    (call,) = [call for call in calls if "/accounts?" in call.address]
    assert (call.method, call.status, call.as_user) == ("GET", 200, True)
    text = unescape(section(developer))
    assert text.index(calls[-1].address) < text.index(calls[0].address) and call.address in text
    assert kept(office, "developer") == calls, "the page lists its own calls"
    assert not [call for call in calls if call.address.endswith(("/tokens", "/oauth/token"))]


@pytest.mark.parametrize("role", ["member", None])
def test_of_members_and_visitors_nothing_is_kept(role: str | None, office: Embedded, developer: Browser) -> None:
    if role:
        office.browser(role).get("/accounts")
    else:
        office.app.test_client().get("/accounts", base_url=BASE)
    assert not any(kept(office, each) for each in office.people)


def test_nobody_sees_the_calls_of_another(office: Embedded, developer: Browser) -> None:
    developer.get("/accounts")
    assert "None yet." in section(office.browser("owner"))


def test_a_person_s_last_fifty_are_kept(office: Embedded, developer: Browser) -> None:
    gate.note_call(CALL)  # of no request at all
    with office.app.test_request_context("/accounts", base_url=BASE):
        g.person, g.viewer = office.people["developer"], Viewer("u_dev", "developer", board(office).client)
        for at in range(CALLS_KEPT + 2):
            gate.note_call(replace(CALL, at=at))
    assert [call.at for call in board(office).calls.get("u_dev") or ()] == list(range(2, CALLS_KEPT + 2))


def test_the_newest_twenty_come_first_and_lead_to_older_ones(office: Embedded, developer: Browser) -> None:
    user = office.people["developer"].id
    records = [replace(CALL, address=f"/v1/n{at}", status=404 if at < 21 else 200) for at in range(45)]
    board(office).calls.put(user, deque(records))
    for query, first, last, words in (
        ("", 44, 25, "Newest 20 of 45 calls shown"),
        ("?page=2", 24, 5, "20 of 45 calls shown"),
        ("?page=3", 4, 0, "5 of 45 calls shown"),
        ("?page=99", 4, 0, "5 of 45 calls shown"),
        ("?page=x", 44, 25, "Newest 20 of 45 calls shown"),
        ("?calls=failed&page=2", 0, 0, "1 of 21 calls shown"),
    ):
        text = section(developer, query)
        addresses = re.findall(r"<code class=\"grow\">/v1/n(\d+)", text)
        assert (addresses[0], addresses[-1]) == (str(first), str(last)) and words in text, query
        assert ("Older" in text) == (last > 0) and ("Back to the newest" in text) == ("page=" in query and first < 44)
    assert 'href="/build/keys/calls?calls=failed&amp;page=2#calls"' in section(developer, "?calls=failed")


def test_a_failure_says_why_and_is_found(office: Embedded, developer: Browser) -> None:
    developer.get("/accounts")
    developer.get("/accounts/apn_none", code=404)
    text = section(developer, "?calls=failed")
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
    assert TYPED not in str(calls) and TYPED not in section(owner)


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
    token = str(tokens.create(office.service, office.scene, request, client_id=None)["token"])
    rows = section(developer).partition("/v1/connect/apps?")[2]
    codes = [unescape(code).replace(BASE, served) for code in re.findall(r"<pre[^>]*>(.*?)</pre>", rows, re.DOTALL)]
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
