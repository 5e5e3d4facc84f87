"""Read the latest messages of a channel."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer

from ..channels import channel_prop
from ..common import account, ask, refused

# The most that apps outside the Marketplace get at once: https://docs.slack.dev/reference/methods/conversations.history
PAGE = 15


class ListMessages(Action):
    name = "List messages"
    description = (
        "Read the latest messages of a channel or a direct message, newest first, without the replies in threads. "
        "[See the documentation](https://docs.slack.dev/reference/methods/conversations.history)"
    )
    annotations = READS

    slack = account
    channel = channel_prop
    limit = integer(
        label="How many",
        description="Slack gives 15 a minute to apps that are sold outside its Marketplace.",
        default=15,
        min=1,
        max=200,
        optional=True,
    )

    def run(self, ctx: Context) -> Any:
        messages: list[Any] = []
        cursor, most = None, ctx.props.limit
        while True:
            limit = min(PAGE, most - len(messages))
            answer = ask(ctx, "conversations.history", channel=ctx.props.channel, limit=limit, cursor=cursor)
            if answer.get("error") == "ratelimited" and messages:
                ctx.log(f"Slack gives no more for now, so these are the newest {len(messages)} of {most}.")
                break
            if not answer.get("ok"):
                raise refused(answer)
            messages += answer["messages"]
            cursor = answer.get("response_metadata", {}).get("next_cursor")
            if not cursor or len(messages) >= most:
                break
        ctx.export("$summary", f"Read {counted(messages, 'message')}")
        return messages
