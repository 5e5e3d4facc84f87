"""Operations are chosen by tag, id, or method and path; deprecated ones only by their own name."""

import pytest

from tests.fakes.openapi_documents import document
from webapp.errors import Invalid
from webapp.service.catalog.importing import operations
from webapp.service.catalog.importing.operations import chosen, listed, unsendable

DOCUMENT = document(
    {
        "/pets": {
            "get": {"operationId": "listPets", "tags": ["Pets"], "summary": "List all pets."},
            "post": {"operationId": "oldPet", "tags": ["Pets"], "deprecated": True},
            "options": {},
        },
        "/shops/{id}": {"delete": {}},
    }
)


@pytest.mark.parametrize(
    ("only", "ids"),
    [
        ([], ["GET /me", "GET /pets", "DELETE /shops/{id}"]),
        (["pets"], ["GET /pets"]),
        (["oldPet", "Others"], ["GET /me", "POST /pets", "DELETE /shops/{id}"]),
        (["Shops"], ["DELETE /shops/{id}"]),
        (["DELETE /shops/{id}"], ["DELETE /shops/{id}"]),
    ],
)
def test_those_that_are_named_are_chosen(only: list[str], ids: list[str]) -> None:
    assert [operation.id for operation in chosen(listed(DOCUMENT), only)] == ids


def test_a_name_that_fits_nothing_is_reported() -> None:
    with pytest.raises(Invalid, match="no tag and no operation 'Cats'"):
        chosen(listed(DOCUMENT), ["Cats"])


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/api/v2/orders/{id}", "orders"),
        ("/2010-04-01/Accounts.json", "Accounts.json"),
        ("/{id}/rest/users({key})", "users"),
        ("/v1", "Others"),
        ("/", "Others"),
    ],
)
def test_operations_without_tags_are_grouped_by_their_path(path: str, group: str) -> None:
    (operation,) = listed(document({path: {"get": {}}}))[1:]
    assert (operation.groups, operation.tags) == ((group,), ("Others",))


def test_groups_are_counted_in_which_case_does_not_count() -> None:
    paths = {"/pets/{id}": {"get": {"tags": ["Zoo", "PETS"]}}, "/pets/{id}/x": {"get": {}}}
    more = listed(document({"/pets": {"get": {"tags": ["Pets"]}, "put": {"deprecated": True}}, **paths}))
    assert operations.counts(more) == {"me": 1, "Pets": 3, "Zoo": 1}
    assert len(chosen(more, ["pets"])) == 3


def test_what_no_action_can_send_is_known() -> None:
    assert unsendable(DOCUMENT) == ["OPTIONS /pets"]


def test_titles_and_keys_come_from_what_is_said() -> None:
    _me, pets, old, shop = listed(DOCUMENT)
    assert (pets.title, old.title, shop.title) == ("List all pets", "Old pet", "Delete shops ID")
    assert (pets.wanted_key, shop.wanted_key) == ("list-pets", "delete-shops-id")


def test_a_document_has_so_many_operations_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "MOST", 1)
    with pytest.raises(Invalid, match="more than 1 operations"):
        listed(document({"/a": {"get": {}}, "/b": {"get": {}}}))
