"""Fetch a feed and list its entries."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, integer

from .. import common


class FetchFeed(Action):
    name = "Fetch feed"
    description = (
        "Fetch an RSS or Atom feed and list its entries in the feed's order. "
        "[See the documentation](https://www.rssboard.org/rss-specification)"
    )
    annotations = READS

    url = common.url_prop
    limit = integer(label="At most", description="How many entries to return.", min=1, max=500, default=50)

    def run(self, ctx: Context) -> Any:
        answer = ctx.http.get(ctx.props.url.strip(), headers={"Accept": common.ACCEPT})
        document = common.parsed(answer)
        entries = [common.entry(entry) for entry in document.entries[: ctx.props.limit]]
        title = document.feed.get("title") or answer.url
        ctx.export("$summary", f"Fetched {len(entries)} entr{'y' if len(entries) == 1 else 'ies'} of {title}")
        return {"title": title, "link": document.feed.get("link"), "entries": entries}
