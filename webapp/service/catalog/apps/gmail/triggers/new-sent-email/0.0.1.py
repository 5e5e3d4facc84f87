"""Tell of each e-mail that the account sends."""

from webapp.service.components.authoring import Context, Trigger, service_db, timer

from .. import common, history


class NewSentEmail(Trigger):
    name = "New sent email"
    description = (
        "Each e-mail that you send, from Gmail or elsewhere. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list)"
    )
    dedupe = "unique"

    gmail = common.account
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        history.begin(ctx, "SENT")

    def run(self, ctx: Context) -> None:
        history.go_on(ctx, "SENT", ["messageAdded"])
