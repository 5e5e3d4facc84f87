"""Be told by GitHub when somebody stars a repository."""

from webapp.service.components.authoring import Context, Trigger, app, http_interface, service_db

from .. import common


class NewStar(Trigger):
    name = "New star"
    description = (
        "Emits each star that a repository is given, at once, as GitHub's webhook tells it. "
        "[See the documentation](https://docs.github.com/en/webhooks/webhook-events-and-payloads#star)"
    )
    dedupe = "unique"

    account = app("github")
    repository = common.repository
    http = http_interface()
    db = service_db()

    def activate(self, ctx: Context) -> None:
        common.hook_on(ctx, "star")

    def deactivate(self, ctx: Context) -> None:
        common.hook_off(ctx)

    def run(self, ctx: Context) -> None:
        told = common.told(ctx, "star")
        if told is not None and told["action"] == "created":
            who, where = told["sender"]["login"], told["repository"]["full_name"]
            ctx.emit(told, id=common.delivery(ctx), summary=f"{who} starred {where}")
