"""Emits each e-mail that a search finds, and looks at once where Gmail notifies it."""

from webapp.service.components.authoring import Context, service_db, string, timer

from .. import common, history, matches, watch


class NewEmailMatchingSearch(watch.WatchingTrigger):
    name = "New email matching search"
    description = (
        "Each e-mail that a search of Gmail finds anew. "
        "Gmail notifies it at once where the OAuth client has a topic of Cloud Pub/Sub; otherwise it polls. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/list)"
    )
    dedupe = "unique"

    gmail = common.account
    q = string(label="Search", description="As in Gmail, such as from:ada@example.com has:attachment.")
    timer = timer(default={"intervalSeconds": 300})
    http = watch.notified_prop
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        matches.begin(ctx, ctx.props.q, history.emit)

    def run(self, ctx: Context) -> None:
        matches.go_on(ctx, ctx.props.q, history.emit)
