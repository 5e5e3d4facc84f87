"""Tell of each e-mail that comes."""

from webapp.service.components.authoring import Context, Trigger, service_db, string, timer

from .. import common, history


class NewEmailReceived(Trigger):
    name = "New email received"
    description = (
        "Each e-mail that comes into the inbox, or under another label. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list)"
    )
    dedupe = "unique"

    gmail = common.account
    label = string(label="Label", default="INBOX", options=common.find_labels, optional=True)
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        history.begin(ctx, ctx.props.label or "INBOX")

    def run(self, ctx: Context) -> None:
        history.go_on(ctx, ctx.props.label or "INBOX", ["messageAdded"])
