"""List payments."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer

from ..common import account, customer_prop, listed


class ListPayments(Action):
    name = "List payments"
    description = (
        "List payments, newest first, of all customers or one. "
        "[See the documentation](https://docs.stripe.com/api/payment_intents/list)"
    )
    annotations = READS

    stripe = account
    customer = customer_prop.but(optional=True)
    most = integer(label="At most", default=20, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        payments = listed(ctx, "/v1/payment_intents", ctx.props.most, customer=ctx.props.customer)
        ctx.export("$summary", f"Listed {counted(payments, 'payment')}")
        return payments
