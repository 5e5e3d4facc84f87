"""What the Trello actions share: choosing a board, one of its lists, and a card on it."""

from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import Context, Option, Options, app, string


def find_boards(ctx: Context) -> Options:
    """The person's open boards."""
    return _find(ctx, "/members/me/boards", filter="open")


def find_lists(ctx: Context) -> Options:
    """The open lists of the chosen board, from left to right."""
    return _find(ctx, f"/boards/{quote(ctx.props.board_id, safe='')}/lists", filter="open")


def find_cards(ctx: Context) -> Options:
    """The open cards of the chosen board, which are all that Trello lists there."""
    return _find(ctx, f"/boards/{quote(ctx.props.board_id, safe='')}/cards")


def _find(ctx: Context, path: str, **params: str) -> Options:
    """Trello answers with the whole list."""
    if ctx.page:
        return Options([])
    rows: list[dict[str, Any]] = ctx.http.get(path, params={**params, "fields": "name"}).json()
    return Options([Option(row["name"], row["id"]) for row in rows if ctx.query.lower() in row["name"].lower()])


account = app("trello")
board_prop = string(label="Board", options=find_boards, use_query=True)
list_prop = string(label="List", options=find_lists, use_query=True, with_label=True)
card_prop = string(label="Card", options=find_cards, use_query=True, with_label=True)
