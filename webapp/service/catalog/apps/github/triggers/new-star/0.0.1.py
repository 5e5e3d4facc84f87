"""Emits stars, which a webhook of GitHub reports."""

from webapp.service.components.authoring import Context, http_interface, service_db

from .. import common


class NewStar(common.WebhookTrigger):
    name = "New star"
    description = (
        "Each star that a repository is given, at once, as GitHub's webhook tells it. "
        "[See the documentation](https://docs.github.com/en/webhooks/webhook-events-and-payloads#star)"
    )
    event = "star"

    http = http_interface()
    db = service_db()

    def run(self, ctx: Context) -> None:
        event = self.signed_event(ctx)
        if event is not None and event["action"] == "created":
            who, where = event["sender"]["login"], event["repository"]["full_name"]
            ctx.emit(event, id=common.delivery(ctx), summary=f"{who} starred {where}")
