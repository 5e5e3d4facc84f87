"""Emits each e-mail that comes, and looks at once where Gmail notifies it."""

from webapp.service.components.authoring import Context, service_db, string, timer

from .. import common, history, watch


class NewEmailReceived(watch.WatchingTrigger):
    name = "New email received"
    description = (
        "Each e-mail that comes into the inbox, or under another label. "
        "Gmail notifies it at once where the OAuth client has a topic of Cloud Pub/Sub; otherwise it polls. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list)"
    )
    dedupe = "unique"

    gmail = common.account
    label = string(label="Label", default="INBOX", options=common.find_labels, optional=True)
    timer = timer(default={"intervalSeconds": 300})
    http = watch.notified_prop
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        history.begin(ctx, ctx.props.label or "INBOX")

    def run(self, ctx: Context) -> None:
        history.go_on(ctx, ctx.props.label or "INBOX", ["messageAdded"])
