"""Limits of the served product, over HTTP and by the real clock: exactly N pass, and whoever waits as told passes."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

import pytest
import requests

from tests.fakes.served import served
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.settings import Settings

pytestmark = pytest.mark.faults
CALLERS = 40
Ask = Callable[..., requests.Response]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Calls the product with an access token; each thread has a connection of its own."""
    data, mine = tmp_path_factory.mktemp("live") / "data", local()
    with served(data) as product:
        service = open_service(Settings.from_env({}, data=data))
        project = projects.create(service, name="Live")
        token = access_tokens.issue(service, oauth_clients.create(service, name="Live")[0], None).token
        close_service(service)
        sessions: list[requests.Session] = []

        def call(method: str, path: str, **more: Any) -> requests.Response:
            if not hasattr(mine, "session"):
                mine.session = requests.Session()
                mine.session.headers.update({"Authorization": f"Bearer {token}", "x-pd-environment": "development"})
                sessions.append(mine.session)
            path = path.replace("P/", f"/v1/connect/{project.id}/", 1)
            answer: requests.Response = mine.session.request(method, product.url + path, timeout=60, **more)
            return answer

        yield call
        for session in sessions:
            session.close()


def at_once(count: int, call: Callable[[], requests.Response]) -> list[requests.Response]:
    """``count`` calls by :data:`CALLERS` at a time."""
    with ThreadPoolExecutor(CALLERS) as pool:
        return [done.result() for done in [pool.submit(call) for _ in range(count)]]


def check(answers: list[requests.Response], limit: int) -> list[requests.Response]:
    """Exactly ``limit`` passed, each told a number of its own; those that did not, told as section 7 has it."""
    passed = [one for one in answers if one.status_code == 200]
    stopped = [one for one in answers if one.status_code == 429]
    assert (len(passed), len(passed) + len(stopped)) == (limit, len(answers))
    assert sorted(int(one.headers["X-RateLimit-Remaining"]) for one in passed) == list(range(limit))
    assert len({one.headers["X-RateLimit-Reset"] for one in answers}) == 1
    for one in stopped:
        assert one.json() == {"error": "Throttled"}
        assert (one.headers["X-RateLimit-Limit"], one.headers["X-RateLimit-Remaining"]) == (str(limit), "0")
        assert 1 <= int(one.headers["Retry-After"]) <= int(one.headers["X-RateLimit-Reset"]) - time.time() + 2
    return stopped


def test_exactly_a_hundred_tokens_a_minute_for_one_user_and_none_less_for_another(ask: Ask) -> None:
    body = {"external_user_id": "alice"}
    check(at_once(200, lambda: ask("POST", "P/tokens", json=body)), 100)
    assert ask("POST", "P/tokens", json={"external_user_id": "bob"}).headers["X-RateLimit-Remaining"] == "99"


def test_whoever_waits_as_told_passes_the_first_time(ask: Ask) -> None:
    made = ask("POST", "/v1/connect/rate_limits", json={"window_size_seconds": 5, "requests_per_window": 300})
    header = {"x-pd-rate-limit": made.json()["token"]}
    stopped = check(at_once(400, lambda: ask("GET", "P/users?limit=1", headers=header)), 300)
    assert len(stopped) == 100
    time.sleep(int(stopped[-1].headers["Retry-After"]))
    again = at_once(100, lambda: ask("GET", "P/users?limit=1", headers=header))
    assert {one.status_code for one in again} == {200}


def test_the_whole_limit_of_account_management(ask: Ask) -> None:
    """The specification's own number, 2,000 in five minutes, and a hundred calls more."""
    stopped = check(at_once(2_100, lambda: ask("GET", "P/accounts?limit=1")), 2_000)
    assert len(stopped) == 100
    assert ask("DELETE", "P/accounts/apn_none").status_code == 429
    assert ask("GET", "P/users").status_code == 200
