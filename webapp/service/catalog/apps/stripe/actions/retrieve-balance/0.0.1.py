"""See the balance."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context

from ..common import account, money


class RetrieveBalance(Action):
    name = "Retrieve balance"
    description = (
        "See the balance of the account, by currency. "
        "[See the documentation](https://docs.stripe.com/api/balance/balance_retrieve)"
    )
    annotations = READS

    stripe = account

    def run(self, ctx: Context) -> Any:
        balance = ctx.http.get("/v1/balance").json()
        amounts = ", ".join(money(amount["amount"], amount["currency"]) for amount in balance["available"])
        ctx.export("$summary", f"Available: {amounts or 'nothing'}")
        return balance
