"""Pay a payment back."""

from typing import Any

from webapp.service.catalog.shared.hints import SPENDS
from webapp.service.components.authoring import Action, Context, Option, integer, string

from ..common import account, money, payment_prop


class CreateRefund(Action):
    name = "Create refund"
    description = (
        "Pay a payment back, all of it or a part. [See the documentation](https://docs.stripe.com/api/refunds/create)"
    )
    annotations = SPENDS

    stripe = account
    payment_intent = payment_prop
    amount = integer(
        label="Amount",
        description="In the smallest unit of the currency, such as cents. Empty for all that is left.",
        min=1,
        optional=True,
    )
    reason = string(
        label="Reason",
        options=[
            Option("The customer asked for it", "requested_by_customer"),
            Option("It was paid twice", "duplicate"),
            Option("It was fraud", "fraudulent"),
        ],
        optional=True,
    )

    def run(self, ctx: Context) -> Any:
        fields = {name: ctx.props[name] for name in ("payment_intent", "amount", "reason")}
        refund = ctx.http.post("/v1/refunds", data=fields).json()
        ctx.export("$summary", f"Refunded {money(refund['amount'], refund['currency'])}")
        return refund
