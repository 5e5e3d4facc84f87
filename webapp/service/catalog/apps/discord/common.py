"""What the actions of Discord share that write to the channel which the person chose while connecting.

Its webhook was kept with the tokens, and its token stands in the address of each request.
"""

from webapp.service.components.authoring import ComponentError, Context, string

message_id = string(label="Message", description="Its id, as Send message gives it. This account must have written it.")


def webhook(ctx: Context) -> str:
    """The path of the webhook. Raises :class:`ComponentError` for an account without one."""
    hook, token = ctx.auth.get("webhook_id"), ctx.auth.get("webhook_token")
    if not (hook and token):
        raise ComponentError(
            "This account has no channel to write to. Connect it again, allow messages and choose one."
        )
    return f"/webhooks/{hook}/{token}"


def message(ctx: Context) -> str:
    """The path of the message that is named. Raises :class:`ComponentError`."""
    name = ctx.props.message_id.strip()
    if not (name.isascii() and name.isdigit()):
        raise ComponentError("The id of a message is a number. Copy the one that Send message returned.")
    return f"{webhook(ctx)}/messages/{name}"
