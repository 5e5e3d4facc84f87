"""Fetch a feed and list its entries."""

import io
from calendar import timegm
from datetime import UTC, datetime
from typing import Any

import feedparser

from webapp.service.catalog.hints import READS
from webapp.service.components.authoring import Action, ComponentError, Context, integer, string

ACCEPT = (
    "application/rss+xml, application/atom+xml, application/rdf+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"
)


class FetchFeed(Action):
    name = "Fetch feed"
    description = (
        "Fetch an RSS or Atom feed and list its entries in the feed's order. "
        "[See the documentation](https://www.rssboard.org/rss-specification)"
    )
    annotations = READS

    url = string(label="Feed address", description="Such as https://example.com/feed.xml.")
    limit = integer(label="At most", description="How many entries to return.", min=1, max=500, default=50)

    def run(self, ctx: Context) -> Any:
        answer = ctx.http.get(ctx.props.url.strip(), headers={"Accept": ACCEPT})
        # A stream, because feedparser would take bare bytes for the name of a file.
        told = {"content-type": answer.headers.get("content-type", ""), "content-location": answer.url}
        found = feedparser.parse(io.BytesIO(answer.body), response_headers=told)
        if not found.get("version"):
            raise ComponentError("There is no RSS or Atom feed at this address. Check it in a browser.")
        entries = [_entry(one) for one in found.entries[: ctx.props.limit]]
        title = found.feed.get("title") or answer.url
        ctx.export("$summary", f"Fetched {len(entries)} entr{'y' if len(entries) == 1 else 'ies'} of {title}")
        return {"title": title, "link": found.feed.get("link"), "entries": entries}


def _entry(entry: Any) -> dict[str, Any]:
    return {
        "id": entry.get("id") or entry.get("link"),
        "title": entry.get("title"),
        "link": entry.get("link"),
        "author": entry.get("author"),
        "published": _time(entry.get("published_parsed") or entry.get("updated_parsed")),
        "summary": entry.get("summary"),
        "content": next((one.get("value") for one in entry.get("content", [])), None),
        "categories": [one["term"] for one in entry.get("tags", []) if one.get("term")],
        "enclosures": [one["href"] for one in entry.get("enclosures", []) if one.get("href")],
    }


def _time(parsed: Any) -> str | None:
    """What feedparser read, which is in UTC, as ISO 8601."""
    return datetime.fromtimestamp(timegm(parsed), UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if parsed else None
