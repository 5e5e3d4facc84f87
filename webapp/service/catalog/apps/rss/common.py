"""What the components of RSS share: reading a feed, as RSS or as Atom, and its entries as plain values."""

import hashlib
import io
from calendar import timegm
from datetime import UTC, datetime
from typing import Any, Final

import feedparser  # type: ignore[import-untyped]  # it comes without type hints

from webapp.service.components.authoring import ComponentError, HttpResponse, string

ACCEPT: Final = (
    "application/rss+xml, application/atom+xml, application/rdf+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"
)
url_prop = string(label="Feed address", description="Such as https://example.com/feed.xml.")


def parsed(answer: HttpResponse) -> Any:
    """The feed in an answer, as feedparser has it. Raises :class:`ComponentError` where there is none."""
    # A stream, because feedparser would take bare bytes for the name of a file.
    headers = {"content-type": answer.headers.get("content-type", ""), "content-location": answer.url}
    feed = feedparser.parse(io.BytesIO(answer.body), response_headers=headers)
    if not feed.get("version"):
        raise ComponentError("There is no RSS or Atom feed at this address. Check it in a browser.")
    return feed


def entry(item: Any) -> dict[str, Any]:
    """An entry of a feed as JSON can carry it."""
    return {
        "id": item.get("id") or item.get("link"),
        "title": item.get("title"),
        "link": item.get("link"),
        "author": item.get("author"),
        "published": _time(item.get("published_parsed") or item.get("updated_parsed")),
        "summary": item.get("summary"),
        "content": next((part.get("value") for part in item.get("content", [])), None),
        "categories": [tag["term"] for tag in item.get("tags", []) if tag.get("term")],
        "enclosures": [part["href"] for part in item.get("enclosures", []) if part.get("href")],
    }


def identity(item: dict[str, Any]) -> str:
    """What tells an :func:`entry` from every other: its id or link, else its title and text. 16 hex digits."""
    own = item["id"] or "\0".join(str(item[name]) for name in ("title", "published", "summary"))
    return hashlib.sha256(own.encode()).hexdigest()[:16]


def _time(moment: Any) -> str | None:
    """What feedparser read, which is in UTC, as ISO 8601."""
    return datetime.fromtimestamp(timegm(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
