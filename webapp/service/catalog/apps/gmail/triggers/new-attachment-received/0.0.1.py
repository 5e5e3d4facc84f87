"""Tell of each file that comes with an e-mail."""

from webapp.service.components.authoring import Context, Trigger, service_db, string, timer

from .. import attachments, common, matches


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
        matches.begin(ctx, attachments.search(ctx), attachments.emit)

    def run(self, ctx: Context) -> None:
        matches.go_on(ctx, attachments.search(ctx), attachments.emit)
