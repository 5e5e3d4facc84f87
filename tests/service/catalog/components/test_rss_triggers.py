"""The RSS trigger against a server that answers conditional requests as RFC 9110 section 13 says."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask, Response, request
from flask.typing import ResponseReturnValue

from tests.fakes.provider_api import Api, serving
from tests.service.catalog.components.trigger_harness import TriggerHarness, logged
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.executor import Executor

FEEDS: dict[str, list[str]] = {}
MODIFIED = "Sat, 07 Sep 2030 09:00:01 GMT"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    app = Flask("feeds")

    @app.get("/<name>")
    def feed(name: str) -> ResponseReturnValue:
        if name == "broken":
            return "No.", 503
        body = f"<rss version='2.0'><channel><title>T</title>{''.join(FEEDS[name])}</channel></rss>"
        answer = Response(body, content_type="application/rss+xml")
        if name == "dated":
            answer.headers["Last-Modified"] = MODIFIED
            if request.headers.get("If-Modified-Since") == MODIFIED:
                return Response(status=304)
        if name == "tagged":
            answer.add_etag()
        return answer.make_conditional(request)

    with serving(app) as running:
        yield running


@pytest.fixture
def watching(api: Api, runner: Executor) -> Any:
    path = BUILT_IN / "rss" / "triggers" / "new-item" / "0.0.1.py"

    def made(name: str, *items: str) -> TriggerHarness:
        FEEDS[name] = list(items)
        return TriggerHarness(runner, path, {"url": f"{api.origin}/{name}"}, allow_hosts=(urlsplit(api.origin).netloc,))

    return made


def item(name: str) -> str:
    return f"<item><guid isPermaLink='false'>{name}</guid><title>{name}</title><pubDate>{MODIFIED}</pubDate></item>"


def titles(events: Any) -> list[str]:
    return [one.summary for one in events]


def test_new_items_are_emitted_the_oldest_first_and_once(api: Api, watching: Any) -> None:
    harness = watching("plain", *(item(str(number)) for number in range(9, 0, -1)))
    assert titles(harness.deploy()) == ["5", "6", "7", "8", "9"]
    assert harness.tick() == []
    FEEDS["plain"][:0] = [item("b"), item("a")]
    events = harness.tick()
    assert titles(events) == ["a", "b"]
    assert (events[0].ts, events[0].event["id"], events[0].event["published"]) == (
        1915002001000, "a", "2030-09-07T09:00:01Z"
    )  # fmt: skip
    FEEDS["plain"] = [item("a"), item("9")]  # items that leave the feed and come back are not new
    assert harness.tick() == []
    FEEDS["plain"] = [item("b")]
    assert harness.tick() == []


def test_items_without_an_id_are_told_apart_by_link_or_text(watching: Any) -> None:
    harness = watching("bare", "<item><title>One</title></item>", "<item><link>https://a.example/1</link></item>")
    assert len(harness.deploy()) == 2
    FEEDS["bare"] += ["<item><title>Two</title></item>", "<item><title>One</title></item>"]
    assert titles(harness.tick()) == ["Two"]
    FEEDS["bare"] += ["<item><title>One</title><description>More</description></item>"]
    assert titles(harness.tick()) == ["One"]


@pytest.mark.parametrize(("name", "condition"), [("tagged", "If-None-Match"), ("dated", "If-Modified-Since")])
def test_the_server_is_asked_for_changes_only(api: Api, watching: Any, name: str, condition: str) -> None:
    harness = watching(name, item("1"))
    harness.deploy()
    assert condition not in api.last.headers
    assert harness.tick() == []
    assert condition in api.last.headers
    if name == "tagged":
        FEEDS[name].append(item("2"))
        assert titles(harness.tick()) == ["2"]


def test_another_address_begins_anew_without_a_flood(api: Api, watching: Any) -> None:
    harness = watching("tagged", item("1"))
    harness.deploy()
    FEEDS["other"] = [item("x"), item("y")]
    harness.props["url"] = f"{api.origin}/other"
    reply = harness.call("run")
    assert (reply.events, "The address of the feed has changed." in logged(reply)) == ((), True)
    assert "If-None-Match" not in api.last.headers
    FEEDS["other"].append(item("z"))
    assert titles(harness.tick()) == ["z"]


def test_a_feed_that_fails_says_so_and_forgets_nothing(api: Api, watching: Any) -> None:
    harness = watching("plain", item("1"))
    harness.deploy()
    good, harness.props["url"] = harness.props["url"], f"{api.origin}/broken"
    assert harness.refuses("run") == "The feed's server answered with status 503."
    harness.props["url"] = good
    FEEDS["plain"].append(item("2"))
    assert titles(harness.tick()) == ["2"]
