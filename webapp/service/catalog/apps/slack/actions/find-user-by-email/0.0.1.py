"""Find the person who has an e-mail address."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, string

from ..common import account, call


class FindUserByEmail(Action):
    name = "Find user by e-mail"
    description = (
        "Find the person in your workspace who has an e-mail address. "
        "[See the documentation](https://docs.slack.dev/reference/methods/users.lookupByEmail)"
    )
    annotations = READS

    slack = account
    email = string(label="E-mail address")

    def run(self, ctx: Context) -> Any:
        user = call(ctx, "users.lookupByEmail", email=ctx.props.email)["user"]
        ctx.export("$summary", f"Found {user.get('real_name') or user['name']}")
        return user
