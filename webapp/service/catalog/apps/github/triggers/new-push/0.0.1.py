"""Be told by GitHub when commits are pushed to a branch."""

from webapp.service.catalog.shared.hints import counted
from webapp.service.components.authoring import Context, Trigger, app, http_interface, service_db

from .. import common

BRANCH = "refs/heads/"


class NewPush(Trigger):
    name = "New push"
    description = (
        "Emits each push to a branch of a repository, at once, as GitHub's webhook tells it; tags and the deletion of "
        "a branch are left out. "
        "[See the documentation](https://docs.github.com/en/webhooks/webhook-events-and-payloads#push)"
    )
    dedupe = "unique"

    account = app("github")
    repository = common.repository
    branch = common.branch.but(description="Every branch unless given.")
    http = http_interface()
    db = service_db()

    def activate(self, ctx: Context) -> None:
        common.hook_on(ctx, "push")

    def deactivate(self, ctx: Context) -> None:
        common.hook_off(ctx)

    def run(self, ctx: Context) -> None:
        told = common.told(ctx, "push")
        if told is None or told["deleted"] or not told["ref"].startswith(BRANCH):
            return
        name = told["ref"].removeprefix(BRANCH)
        if ctx.props.branch in (None, "", name):
            summary = f"{counted(told['commits'], 'commit')} to {name} by {told['pusher']['name']}"
            ctx.emit(told, id=common.delivery(ctx), summary=summary)
