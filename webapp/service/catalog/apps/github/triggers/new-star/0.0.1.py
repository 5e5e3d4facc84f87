"""Emits stars, which a webhook of GitHub reports."""

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
        common.add_webhook(ctx, "star")

    def deactivate(self, ctx: Context) -> None:
        common.remove_webhook(ctx)

    def run(self, ctx: Context) -> None:
        event = common.signed_event(ctx, "star")
        if event is not None and event["action"] == "created":
            who, where = event["sender"]["login"], event["repository"]["full_name"]
            ctx.emit(event, id=common.delivery(ctx), summary=f"{who} starred {where}")
