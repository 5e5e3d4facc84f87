"""Tell of each e-mail that a search finds."""

from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import Context, Trigger, service_db, string, timer

from .. import common, history

_LISTED = 100
_REMEMBERED = 2_000


class NewEmailMatchingSearch(Trigger):
    name = "New email matching search"
    description = (
        "Each e-mail that a search of Gmail finds anew. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/list)"
    )
    dedupe = "unique"

    gmail = common.account
    q = string(label="Search", description="As in Gmail, such as from:ada@example.com has:attachment.")
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        ids = _listed(ctx)
        history.emit(ctx, reversed(ids[:EXAMPLES]))
        ctx.db.set("seen", ids)

    def run(self, ctx: Context) -> None:
        seen = ctx.db.get("seen", [])
        new = [id for id in reversed(_listed(ctx)) if id not in set(seen)][: history.AT_ONCE]
        history.emit(ctx, new)
        ctx.db.set("seen", [*reversed(new), *seen][:_REMEMBERED])


def _listed(ctx: Context) -> list[str]:
    """The ids of the newest messages that the search finds, the newest first."""
    answer = ctx.http.get(common.MESSAGES, params={"q": ctx.props.q, "maxResults": _LISTED}).json()
    return [message["id"] for message in answer.get("messages", [])]
