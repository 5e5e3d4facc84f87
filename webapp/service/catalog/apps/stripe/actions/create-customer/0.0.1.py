"""Create a customer."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, object_, string

from ..common import account, as_metadata


class CreateCustomer(Action):
    name = "Create customer"
    description = "Create a customer. [See the documentation](https://docs.stripe.com/api/customers/create)"
    annotations = CREATES

    stripe = account
    email = string(label="E-mail address", optional=True)
    name_ = string(label="Name", optional=True)
    phone = string(label="Phone number", optional=True)
    description_ = string(label="Description", description="For your own eyes.", optional=True)
    metadata = object_(label="Metadata", description="Names and texts of your own to keep with it.", optional=True)

    def run(self, ctx: Context) -> Any:
        fields = {name: ctx.props[name] for name in ("email", "name", "phone", "description")}
        customer = ctx.http.post("/v1/customers", data={**fields, **as_metadata(ctx.props.metadata)}).json()
        ctx.export("$summary", f"Created the customer {customer.get('email') or customer['id']}")
        return customer
