"""The types that queries are made of, and how repeated parameters are read."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from pydantic import Field, ValidationError
from werkzeug.datastructures import MultiDict

from webapp.errors import Invalid
from webapp.kit import cursors
from webapp.service.api.base.call import read_query
from webapp.service.api.base.models import Answer, ExternalUserId, Flag, Paged, identifier


class Things(Paged):
    """A list with one parameter of each type."""

    lists: ClassVar[frozenset[str]] = frozenset({"tags"})
    aliases: ClassVar[Mapping[str, str]] = {"who": "user"}
    tags: list[str] = Field(default_factory=list)
    good: Flag | None = None
    user: ExternalUserId | None = None


def read(*pairs: tuple[str, str]) -> Things:
    return read_query(Things, MultiDict(pairs))


def test_lists_are_repeated_or_joined_and_of_others_the_last_counts() -> None:
    query = read(("tags", "a,b"), ("tags", "c,"), ("good", "false"), ("good", "true"), ("other", "x"))
    assert (query.tags, query.good, query.user) == (["a", "b", "c"], True, None)


def test_other_spellings_are_the_same_parameters() -> None:
    assert read(("tags[]", "a"), ("tags[]", "b,c"), ("who", "ada")).model_dump(include={"tags", "user"}) == {
        "tags": ["a", "b", "c"], "user": "ada",
    }  # fmt: skip
    assert read(("user", "ada"), ("who", "bob")).user == "ada"  # its own name counts


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("1", True), ("false", False), ("FALSE", False), ("0", False)]
)
def test_booleans_are_read_as_clients_write_them(text: str, value: bool) -> None:
    assert read(("good", text)).good is value


def test_a_window_has_bounds_and_no_empty_cursor() -> None:
    assert read().window == cursors.Window(cursors.DEFAULT_LIMIT, None, None)
    assert read(("limit", "100"), ("after", ""), ("before", "x")).window == cursors.Window(100, None, "x")


@pytest.mark.parametrize(
    "pair",
    [
        ("good", "yes"),
        ("good", "2"),
        ("good", ""),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "1.0"),
        ("user", "a\x00"),
    ],
)
def test_what_is_no_value_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises((ValidationError, Invalid)):
        read(pair)


def test_an_identifier_has_the_prefix_of_its_example() -> None:
    class Thing(Answer):
        id: str = identifier("thing_1")

    def admits(data: dict[str, Any]) -> bool:
        try:
            Thing.model_validate(data)
        except ValidationError:
            return False
        return True

    assert admits({"id": "thing_aZ9"})
    assert not admits({"id": "other_1"}) and not admits({"id": "thing_1", "more": 1})
