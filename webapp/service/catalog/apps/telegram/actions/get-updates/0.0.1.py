"""Read what the bot has not taken yet."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer

from ..common import account, call


class GetUpdates(Action):
    name = "Get updates"
    description = (
        "Read the updates that wait for the bot, oldest first, and leave them waiting. A bot with a webhook has none. "
        "[See the documentation](https://core.telegram.org/bots/api#getupdates)"
    )
    annotations = READS

    telegram = account
    limit = integer(label="At most", default=100, min=1, max=100, optional=True)

    def run(self, ctx: Context) -> Any:
        updates = call(ctx, "getUpdates", limit=ctx.props.limit, timeout=0)
        ctx.export("$summary", f"Read {counted(updates, 'update')}")
        return updates
