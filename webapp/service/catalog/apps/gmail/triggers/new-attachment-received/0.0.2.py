"""Emits each file that comes with an e-mail, and looks at once where Gmail notifies it."""

from webapp.service.components.authoring import Context, service_db, string, timer

from .. import attachments, common, matches, watch


class NewAttachmentReceived(watch.WatchingTrigger):
    name = "New attachment received"
    description = (
        "Each file that comes with an e-mail into the inbox. "
        "Gmail notifies it at once where the OAuth client has a topic of Cloud Pub/Sub; otherwise it polls. "
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
    http = watch.notified_prop
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        matches.begin(ctx, attachments.search(ctx), attachments.emit)

    def run(self, ctx: Context) -> None:
        matches.go_on(ctx, attachments.search(ctx), attachments.emit)
