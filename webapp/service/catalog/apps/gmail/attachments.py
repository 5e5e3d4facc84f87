"""Telling which files come with e-mails into the inbox."""

from collections.abc import Iterable

from webapp.service.components.authoring import Context, HttpError

from . import common

_GONE = 404


def search(ctx: Context) -> str:
    """The search for the e-mails, of those that the prop ``q`` names."""
    return " ".join(["in:inbox has:attachment", *([ctx.props.q] if ctx.props.q else [])])


def emit(ctx: Context, ids: Iterable[str]) -> None:
    """Emit the attachments of the messages; those of a message that is deleted meanwhile are left out."""
    for id in ids:
        try:
            message = common.fetch(ctx, id)
        except HttpError as error:
            if error.status != _GONE:
                raise
            continue
        for number, attachment in enumerate(message["attachments"]):
            # Gmail gives an attachment another id each time, so its place in the message tells it apart.
            summary = f"{attachment['name']}: {message['subject'] or '(no subject)'}"
            ctx.emit({**attachment, "message": message}, id=f"{id}:{number}", summary=summary)
