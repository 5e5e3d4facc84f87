"""Trello's actions, against a fake written from https://developer.atlassian.com/cloud/trello/rest/."""

from collections.abc import Callable

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness


@pytest.fixture
def trello(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("trello", api_key="key1", token="token1")
    made.on("GET /members/me/boards", [{"id": "b1", "name": "Work"}, {"id": "b2", "name": "Home"}])
    made.on("GET /boards/b1/lists", [{"id": "l1", "name": "To do"}, {"id": "l2", "name": "Done"}])
    made.on("GET /boards/b1/cards", [{"id": "c1", "name": "Ship"}])
    return made


CREDENTIAL = {"key": "key1", "token": "token1"}


def test_boards_lists_and_cards_are_offered(trello: AppHarness) -> None:
    assert trello.options("create-card", "board_id", query="wo")["found"] == {"Work": "b1"}
    assert trello.last.query == {"filter": "open", "fields": "name", **CREDENTIAL}
    assert trello.options("create-card", "list_id", board_id="b1")["found"] == {"To do": "l1", "Done": "l2"}
    assert trello.last.query["filter"] == "open"
    assert trello.options("move-card", "card_id", board_id="b1")["found"] == {"Ship": "c1"}
    assert trello.last.query == {"fields": "name", **CREDENTIAL}  # the reference knows no filter there
    assert trello.options("create-card", "board_id", page=1)["found"] == {}


def test_a_card_is_created(trello: AppHarness) -> None:
    trello.on("POST /cards", {"id": "c9", "name": "Write & test"})
    reply = trello.run("create-card", board_id="b1", list_id="l1", title="Write & test", position="top")
    assert trello.last.query == {"idList": "l1", "name": "Write & test", "pos": "top", **CREDENTIAL}
    assert reply.exports["$summary"] == "Created the card Write & test"


def test_cards_are_listed(trello: AppHarness) -> None:
    trello.on("GET /lists/l1/cards", [{"id": "c1", "name": "Ship"}])
    assert trello.run("list-cards", board_id="b1", list_id="l1").value == [{"id": "c1", "name": "Ship"}]


def test_a_card_is_moved(trello: AppHarness) -> None:
    trello.on("PUT /cards/c1", {"id": "c1", "name": "Ship", "idList": "l2"})
    reply = trello.run("move-card", {"list_id": "Done"}, board_id="b1", card_id="c1", list_id="l2")
    assert trello.last.query == {"idList": "l2", **CREDENTIAL}
    assert reply.exports["$summary"] == "Moved Ship to Done"
