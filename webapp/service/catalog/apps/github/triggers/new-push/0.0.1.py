"""Emits pushes to a branch, which a webhook of GitHub reports."""

from webapp.service.catalog.shared.hints import counted
from webapp.service.components.authoring import Context, http_interface, service_db

from .. import common

BRANCH = "refs/heads/"


class NewPush(common.WebhookTrigger):
    name = "New push"
    description = (
        "Each push to a branch of a repository, as soon as GitHub's webhook reports it; tags and the deletion of "
        "a branch are left out. "
        "[See the documentation](https://docs.github.com/en/webhooks/webhook-events-and-payloads#push)"
    )
    event = "push"

    branch = common.branch.but(description="Every branch unless given.")
    http = http_interface()
    db = service_db()

    def run(self, ctx: Context) -> None:
        event = self.signed_event(ctx)
        if event is None or event["deleted"] or not event["ref"].startswith(BRANCH):
            return
        name = event["ref"].removeprefix(BRANCH)
        if ctx.props.branch in (None, "", name):
            summary = f"{counted(event['commits'], 'commit')} to {name} by {event['pusher']['name']}"
            ctx.emit(event, id=common.delivery(ctx), summary=summary)
