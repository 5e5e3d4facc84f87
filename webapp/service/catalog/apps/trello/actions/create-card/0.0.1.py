"""Create a card."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Option, string

from ..common import account, board_prop, list_prop


class CreateCard(Action):
    name = "Create card"
    description = (
        "Create a card in a list of a board. "
        "[See the documentation](https://developer.atlassian.com/cloud/trello/rest/api-group-cards/#api-cards-post)"
    )
    annotations = CREATES

    trello = account
    board_id = board_prop
    list_id = list_prop
    title = string(label="Title")
    text = string(label="Description", optional=True)
    due = string(label="Due", description="Such as 2026-05-31T09:00:00Z.", optional=True)
    position = string(
        label="Where", options=[Option("At the top", "top"), Option("At the bottom", "bottom")], optional=True
    )

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        card = ctx.http.post(
            "/cards",
            params={
                "idList": props.list_id,
                "name": props.title,
                "desc": props.text,
                "due": props.due,
                "pos": props.position,
            },
        ).json()
        ctx.export("$summary", f"Created the card {card['name']}")
        return card
