"""Emits events of the chosen kinds, which a webhook of Stripe reports."""

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import Context, Trigger, http_interface, service_db, string_list

from .. import common


class NewEvent(Trigger):
    name = "New event"
    description = (
        "Stripe's events of the types that you choose, at once. A restricted key must be allowed to write "
        "webhook endpoints. [See the documentation](https://docs.stripe.com/api/webhook_endpoints/create)"
    )
    dedupe = "unique"

    stripe = common.account
    event_types = string_list(
        label="Event types",
        description="Such as payment_intent.succeeded; * is every type.",
        options=common.find_event_types,
        use_query=True,
    )
    http = http_interface()
    db = service_db()

    def activate(self, ctx: Context) -> None:
        endpoint = {"url": ctx.endpoint, "enabled_events[]": ctx.props.event_types}
        webhook = ctx.http.post("/v1/webhook_endpoints", data=endpoint).json()
        webhooks.remember(ctx, webhook["id"], webhook["secret"])

    def deactivate(self, ctx: Context) -> bool:
        known = webhooks.registered_id(ctx)
        for hook in [known] if known else self._existing(ctx):
            webhooks.remove(ctx, f"/v1/webhook_endpoints/{hook}")
        return True

    def _existing(self, ctx: Context) -> list[str]:
        """The webhook endpoints with our URL. An account has at most 16, so one page has them."""
        listed = ctx.http.get("/v1/webhook_endpoints", params={"limit": 100}).json()
        return [hook["id"] for hook in listed["data"] if hook["url"] == ctx.endpoint]

    def run(self, ctx: Context) -> None:
        if not common.signed_by_stripe(ctx, webhooks.shared_secret(ctx)):
            webhooks.log_forged(ctx, "Stripe")
            return
        event = ctx.event["body"]
        ctx.emit(event, id=event["id"], summary=event["type"], ts=event["created"] * 1000)
