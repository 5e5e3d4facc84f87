"""Tell of each file that comes with an e-mail."""

from collections.abc import Iterable

from webapp.service.components.authoring import Context, HttpError, Trigger, service_db, string, timer

from .. import common, matches

_GONE = 404


class NewAttachmentReceived(Trigger):
    name = "New attachment received"
    description = (
        "Each file that comes with an e-mail into the inbox. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/get)"
    )
    dedupe = "unique"

    gmail = common.account
    q = string(
        label="Search",
        description="Which e-mails, as in Gmail, such as from:ada@example.com filename:pdf.",
        optional=True,
    )
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        matches.begin(ctx, _search(ctx), _emit)

    def run(self, ctx: Context) -> None:
        matches.go_on(ctx, _search(ctx), _emit)


def _search(ctx: Context) -> str:
    return " ".join(["in:inbox has:attachment", *([ctx.props.q] if ctx.props.q else [])])


def _emit(ctx: Context, ids: Iterable[str]) -> None:
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
