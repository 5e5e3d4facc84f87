"""List the cards of a list."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context

from ..common import account, board_prop, list_prop


class ListCards(Action):
    name = "List cards"
    description = (
        "List the open cards in a list of a board. "
        "[See the documentation](https://developer.atlassian.com/cloud/trello/rest/api-group-lists/#api-lists-id-cards-get)"
    )
    annotations = READS

    trello = account
    board_id = board_prop
    list_id = list_prop

    def run(self, ctx: Context) -> Any:
        cards = ctx.http.get(f"/lists/{quote(ctx.props.list_id, safe='')}/cards").json()
        ctx.export("$summary", f"Listed {counted(cards, 'card')}")
        return cards
