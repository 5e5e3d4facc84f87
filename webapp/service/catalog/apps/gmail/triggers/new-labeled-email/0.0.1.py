"""Tell of each e-mail that gets a label."""

from webapp.service.components.authoring import Context, Trigger, service_db, string, timer

from .. import common, history


class NewLabeledEmail(Trigger):
    name = "New labeled email"
    description = (
        "Each e-mail that gets a label, as it comes or later. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list)"
    )
    dedupe = "unique"

    gmail = common.account
    label = string(label="Label", options=common.find_labels)
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        history.begin(ctx, ctx.props.label)

    def run(self, ctx: Context) -> None:
        history.go_on(ctx, ctx.props.label, ["messageAdded", "labelAdded"])
