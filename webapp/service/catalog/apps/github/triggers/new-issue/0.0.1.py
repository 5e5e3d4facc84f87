"""Emits opened issues, which a webhook of GitHub reports."""

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.components.authoring import Context, http_interface, service_db

from .. import common


class NewIssue(common.WebhookTrigger):
    name = "New issue"
    description = (
        "Each issue that is opened in a repository, at once, as GitHub's webhook tells it. "
        "[See the documentation](https://docs.github.com/en/webhooks/webhook-events-and-payloads#issues)"
    )
    event = "issues"

    http = http_interface()
    db = service_db()

    def run(self, ctx: Context) -> None:
        event = self.signed_event(ctx)
        if event is None or event["action"] != "opened":
            return
        issue = event["issue"]
        summary = f"#{issue['number']} {issue['title']}"
        ctx.emit(event, id=common.delivery(ctx), summary=summary, ts=epoch_ms(issue["created_at"]))
