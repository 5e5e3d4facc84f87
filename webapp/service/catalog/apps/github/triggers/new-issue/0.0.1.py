"""Emits opened issues, which a webhook of GitHub reports."""

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.components.authoring import Context, Trigger, app, http_interface, service_db

from .. import common


class NewIssue(Trigger):
    name = "New issue"
    description = (
        "Emits each issue that is opened in a repository, at once, as GitHub's webhook tells it. "
        "[See the documentation](https://docs.github.com/en/webhooks/webhook-events-and-payloads#issues)"
    )
    dedupe = "unique"

    account = app("github")
    repository = common.repository
    http = http_interface()
    db = service_db()

    def activate(self, ctx: Context) -> None:
        common.add_webhook(ctx, "issues")

    def deactivate(self, ctx: Context) -> None:
        common.remove_webhook(ctx)

    def run(self, ctx: Context) -> None:
        event = common.signed_event(ctx, "issues")
        if event is None or event["action"] != "opened":
            return
        issue = event["issue"]
        summary = f"#{issue['number']} {issue['title']}"
        ctx.emit(event, id=common.delivery(ctx), summary=summary, ts=epoch_ms(issue["created_at"]))
