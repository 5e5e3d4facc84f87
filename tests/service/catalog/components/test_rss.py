"""Feeds as https://www.rssboard.org/rss-specification and RFC 4287 describe them, from a server on loopback."""

from collections.abc import Iterator

import pytest
from flask import Flask, Response, abort
from flask.typing import ResponseReturnValue

from tests.fakes.provider_api import Api, serving
from tests.service.catalog.components.action_harness import ActionHarness
from webapp.service.components.executor import Executor

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>News &amp; more</title><link>https://example.com/</link>
<item><title>Second</title><link>/2</link><guid isPermaLink="false">g2</guid>
<pubDate>Sat, 07 Sep 2002 09:00:01 +0200</pubDate><category>Town</category><author>ada@example.com</author>
<description>&lt;b&gt;Two&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;</description>
<enclosure url="https://example.com/2.mp3" length="1" type="audio/mpeg"/></item>
<item><link>https://example.com/1</link></item></channel></rss>"""
ATOM = """<?xml version="1.0" encoding="ISO-8859-1"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Gr\xfc\xdfe</title>
<id>urn:f</id><updated>2003-12-13T18:30:02Z</updated><entry><title>One</title><id>urn:1</id>
<link href="https://example.com/a"/><updated>2003-12-13T18:30:02.25+01:00</updated><author><name>Ada</name></author>
<content type="text">All of it</content></entry></feed>"""
FEEDS = {
    "rss": (RSS.encode(), "application/rss+xml"),
    "atom": (ATOM.encode("latin-1"), "application/atom+xml"),
    "empty": (b"<rss version='2.0'><channel><title>Quiet</title></channel></rss>", "text/xml"),
    "page": (b"<!doctype html><title>Hello</title><p>No feed", "text/html"),
    "path": (b"/etc/passwd", "text/plain"),
    "address": (b"http://127.0.0.1:9/", "text/plain"),
    "nothing": (b"", "application/rss+xml"),
    "bomb": (
        b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
        b"<rss version='2.0'><channel><title>T&x;</title><item><title>E</title></item></channel></rss>",
        "application/rss+xml",
    ),
}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    app = Flask("feeds")

    @app.get("/<name>")
    def feed(name: str) -> ResponseReturnValue:
        body, kind = FEEDS.get(name) or abort(404)
        return Response(body, content_type=kind)

    with serving(app) as running:
        yield running


@pytest.fixture
def fetch(api: Api, runner: Executor) -> ActionHarness:
    return ActionHarness(runner, "rss", "fetch-feed", allow_hosts=(api.origin.removeprefix("http://"),))


def test_rss(api: Api, fetch: ActionHarness) -> None:
    found, summary = fetch.ret(url=f" {api.origin}/rss")
    assert (found["title"], found["link"]) == ("News & more", "https://example.com/")
    second, first = found["entries"]
    assert second == {
        "id": "g2",
        "title": "Second",
        "link": f"{api.origin}/2",
        "author": "ada@example.com",
        "published": "2002-09-07T07:00:01Z",
        "summary": "<b>Two</b>",
        "content": None,
        "categories": ["Town"],
        "enclosures": ["https://example.com/2.mp3"],
    }
    assert (first["id"], first["title"], first["published"]) == ("https://example.com/1", None, None)
    assert summary == "Fetched 2 entries of News & more"
    assert "application/rss+xml" in api.last.headers["Accept"]


def test_atom_in_another_encoding(api: Api, fetch: ActionHarness) -> None:
    found, summary = fetch.ret(url=f"{api.origin}/atom")
    assert found["title"] == "Grüße"
    (entry,) = found["entries"]
    assert (entry["id"], entry["author"], entry["content"]) == ("urn:1", "Ada", "All of it")
    assert entry["published"] == "2003-12-13T17:30:02Z"
    assert summary == "Fetched 1 entry of Grüße"


def test_the_limit_and_an_empty_feed(api: Api, fetch: ActionHarness) -> None:
    assert len(fetch.ret(url=f"{api.origin}/rss", limit=1)[0]["entries"]) == 1
    assert fetch.ret(url=f"{api.origin}/empty")[0] == {"title": "Quiet", "link": None, "entries": []}


@pytest.mark.parametrize("name", ["page", "path", "address", "nothing"])
def test_what_is_no_feed_says_so(api: Api, fetch: ActionHarness, name: str) -> None:
    said = fetch.error(url=f"{api.origin}/{name}")
    assert said == "There is no RSS or Atom feed at this address. Check it in a browser."


def test_a_feed_cannot_read_files(api: Api, fetch: ActionHarness) -> None:
    reply = fetch.run(url=f"{api.origin}/bomb")
    assert "root:" not in str(reply.value)


def test_a_missing_feed_and_a_private_one(api: Api, fetch: ActionHarness) -> None:
    assert "status 404" in fetch.error(url=f"{api.origin}/none")
    assert "not on the public internet" in fetch.error(url="http://127.0.0.1:8081/feed")
