"""Look for items that came into a feed since the last time."""

from typing import Any

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import Context, HttpError, HttpResponse, Trigger, service_db, timer

from .. import common

REMEMBERED = 5_000  # items, of 19 bytes each; feeds seldom show more than a few hundred
NOT_MODIFIED = 304


class NewItem(Trigger):
    name = "New item in feed"
    description = (
        "Each new item of an RSS or Atom feed. The server is asked only for changes, if it supports that. "
        "[See the documentation](https://www.rssboard.org/rss-specification)"
    )
    dedupe = "unique"

    url = common.url_prop
    timer = timer(default={"intervalSeconds": 900})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        self._look(ctx, EXAMPLES)

    def run(self, ctx: Context) -> None:
        elsewhere = ctx.db.get("url") not in (None, ctx.props.url)
        if elsewhere:
            ctx.log("The address of the feed has changed. Its current items count as seen.")
        self._look(ctx, 0 if elsewhere else None)

    def _look(self, ctx: Context, most: int | None) -> None:
        """Emit the items that were not there before, the ``most`` newest; then remember them all."""
        answer = _ask(ctx)
        if answer is None:
            return
        items = {common.identity(item): item for item in map(common.entry, common.parsed(answer).entries)}
        seen = ctx.db.get("seen", [])
        new = [id for id in items if id not in set(seen)]  # feeds usually begin with the newest
        for id in reversed(new[:most]):
            _emit(ctx, id, items[id])
        ctx.db.set("seen", (seen + new[::-1])[-REMEMBERED:])
        ctx.db.set("validators", {name: answer.headers.get(name) for name in ("etag", "last-modified")})
        ctx.db.set("url", ctx.props.url)


def _ask(ctx: Context) -> HttpResponse | None:
    """The feed; None when the server says that it has not changed (RFC 9110 section 13.1)."""
    validators = ctx.db.get("validators", {}) if ctx.db.get("url") == ctx.props.url else {}
    conditions = {"If-None-Match": validators.get("etag"), "If-Modified-Since": validators.get("last-modified")}
    headers = {name: value for name, value in conditions.items() if value} | {"Accept": common.ACCEPT}
    answer = ctx.http.get(ctx.props.url.strip(), headers=headers, check=False)
    if answer.status == NOT_MODIFIED:
        return None
    if not answer.ok:
        raise HttpError(f"The feed's server answered with status {answer.status}.", answer.status, answer.body)
    return answer


def _emit(ctx: Context, id: str, item: dict[str, Any]) -> None:
    at = epoch_ms(item["published"]) if item["published"] else None
    ctx.emit(item, id=id, summary=item["title"] or item["link"], ts=at)
