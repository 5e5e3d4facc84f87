"""Emits each e-mail that the account sends, and looks at once where Gmail notifies it."""

from webapp.service.components.authoring import Context, service_db, timer

from .. import common, history, watch


class NewSentEmail(watch.WatchingTrigger):
    name = "New sent email"
    description = (
        "Each e-mail that you send, from Gmail or elsewhere. "
        "Gmail notifies it at once where the OAuth client has a topic of Cloud Pub/Sub; otherwise it polls. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list)"
    )
    dedupe = "unique"

    gmail = common.account
    timer = timer(default={"intervalSeconds": 300})
    http = watch.notified_prop
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        history.begin(ctx, "SENT")

    def run(self, ctx: Context) -> None:
        history.go_on(ctx, "SENT", ["messageAdded"])
