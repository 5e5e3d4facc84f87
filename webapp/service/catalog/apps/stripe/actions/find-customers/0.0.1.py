"""Find customers by their e-mail address."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, string

from ..common import account, listed


class FindCustomers(Action):
    name = "Find customers"
    description = (
        "Find the customers who have an e-mail address, written exactly as it was entered. "
        "[See the documentation](https://docs.stripe.com/api/customers/list)"
    )
    annotations = READS

    stripe = account
    email = string(label="E-mail address")

    def run(self, ctx: Context) -> Any:
        customers = listed(ctx, "/v1/customers", 100, email=ctx.props.email)
        ctx.export("$summary", f"Found {counted(customers, 'customer')}")
        return customers
