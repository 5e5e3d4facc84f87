"""Move a card to another list."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import SETS
from webapp.service.components.authoring import Action, Context

from ..common import account, board_prop, card_prop, list_prop


class MoveCard(Action):
    name = "Move card"
    description = (
        "Move a card to another list of its board. "
        "[See the documentation](https://developer.atlassian.com/cloud/trello/rest/api-group-cards/#api-cards-id-put)"
    )
    annotations = SETS

    trello = account
    board_id = board_prop
    card_id = card_prop
    list_id = list_prop.but(label="To the list")

    def run(self, ctx: Context) -> Any:
        path = f"/cards/{quote(ctx.props.card_id, safe='')}"
        card = ctx.http.put(path, params={"idList": ctx.props.list_id}).json()
        ctx.export("$summary", f"Moved {card['name']} to {ctx.label('list_id') or 'the list'}")
        return card
