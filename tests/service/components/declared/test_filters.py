"""Numbers as apps and people write them.

The decimals of currencies.

What filters of lists make of values that are none.

Every filter once, on what it is for and on what it is not.
"""

from typing import Any

import pytest

from tests.every import of_every
from webapp.service.components.declared import filters
from webapp.service.components.declared.filters import FILTERS, as_text, decimals, number, plus

ROWS = [{"id": 1, "kind": "a"}, {"id": 2, "kind": "b"}]
CASES: list[tuple[str, Any, tuple[Any, ...], Any]] = [
    ("or", None, ("", "x"), "x"),
    ("or", 0, ("x",), 0),
    ("if", "v", ("",), None),
    ("if", "v", ("on",), "v"),
    ("then", [1], ("full", "empty"), "full"),
    ("then", None, ("full", "empty"), "empty"),
    ("with", "Ada", ("a@b", " · "), "Ada · a@b"),
    ("with", None, ("a@b", " · "), "a@b"),
    ("with", None, (None,), ""),
    ("unless", "v", ("",), "v"),
    ("unless", "v", ("on",), None),
    ("not", "", (), True),
    ("not", True, (), False),
    ("is", "a", ("a", "same"), "same"),
    ("is", None, ("a", "same", "other"), "other"),
    ("text", 7, (), "7"),
    ("text", {"a": [True]}, (), '{"a":[true]}'),
    ("number", "12.50", (), 12.5),
    ("number", "3", (), 3),
    ("number", "many", (), "many"),
    ("number", "nan", (), "nan"),
    ("plus", 3, (1,), 4),
    ("plus", "3", (1,), 4),
    ("plus", "many", (1,), None),
    ("lower", "ÄB", (), "äb"),
    ("trim", " :x: ", (" :",), "x"),
    ("cut", "abcdef", (3,), "abc"),
    ("cut", "abcdef", ("three",), None),
    ("replace", "a-b", ("-", "+"), "a+b"),
    ("until", "a-b-1", ("-",), "a-b"),
    ("until", "a", ("-",), ""),
    ("split", "a, b,,c", (), ["a", "b", "c"]),
    ("join", ["a", None, 2], (" ",), "a 2"),
    ("count", ROWS, ("row",), "2 rows"),
    ("count", 1, ("entry", "entries"), "1 entry"),
    ("count", 2, ("entry", "entries"), "2 entries"),
    ("count", ROWS, (), 2),
    ("each", ROWS, ("id",), [1, 2]),
    ("wrap", ["a@b", ""], ("person.email",), [{"person": {"email": "a@b"}}]),
    ("wrap", "a@b", ("email",), [{"email": "a@b"}]),
    ("where", ROWS, ("kind", "b", "c"), [ROWS[1]]),
    ("holding", ROWS, ("b", "id", "kind"), [ROWS[1]]),
    ("holding", ROWS, ("none", "id"), []),
    ("among", ["a", "b"], ("b, c",), ["b"]),
    ("among", ["a", "b"], (["a"],), ["a"]),
    ("exchange", ["a", "b", "c"], ("a", "1", "c", "3"), ["1", "3"]),
    ("merge", {"a": 1, "b": 2}, ({"b": 3},), {"a": 1, "b": 3}),
    ("merge", {"a": 1}, (None,), {"a": 1}),
    ("merge", None, ({"b": 3},), {"b": 3}),
    ("exchange", ["a"], ("a", "1", "b"), None),
    ("member", {"a": "", "b": {"c": 2}}, ("a", "b.c"), 2),
    ("member", {"a": 1}, ("z",), None),
    ("each", [{"a": 1}, {"b": 2}, {}], ("a", "b"), [1, 2, None]),
    ("unique", [{"id": 1, "n": "a"}, {"id": 2}, {"id": 1, "n": "b"}, {}], ("id",), [{"id": 1, "n": "b"}, {"id": 2}]),
    ("at", ROWS, (-1,), ROWS[1]),
    ("at", ROWS, (9,), None),
    ("ms", "2030-01-31T08:00:00Z", (), 1_896_076_800_000),
    ("ms", 1_896_076_800, (), 1_896_076_800_000),
    ("ms", "1896076800000", (), 1_896_076_800_000),
    ("ms", "soon", (), None),
    ("seconds", "2030-01-31T08:00:00Z", (), 1_896_076_800),
    ("seconds", 1_896_076_800, (), 1_896_076_800),
    ("seconds", "soon", (), None),
    ("iso", 1_896_076_800, (), "2030-01-31T08:00:00.000Z"),
    ("money", 1999, ("usd",), "19.99 USD"),
    ("money", 500, ("JPY",), "500 JPY"),
    ("money", 1234, ("kwd",), "1.234 KWD"),
    ("name", "a-b", (), "a_2db"),
    ("path", "/a b/c?d", (), "a%20b/c%3Fd"),
    ("base64", "Grüße", (), "R3LDvMOfZQ=="),
]


def test_text_becomes_a_number_where_it_is_one() -> None:
    assert [number(value) for value in ("3", "3.5", 4, "many", "inf", None)] == [3, 3.5, 4, "many", "inf", None]


def test_only_numbers_are_put_together() -> None:
    assert (plus("3", 1), plus(2, 0.5)) == (4, 2.5)
    with pytest.raises(TypeError):
        plus("many", "more")


def test_most_currencies_have_two_decimals_and_some_none_or_three() -> None:
    assert [decimals(currency) for currency in ("eur", "jpy", "kwd", "")] == [2, 0, 3, 2]


@pytest.mark.parametrize(
    ("value", "items"), [({"a": 1, "b": 2}, [1, 2]), ((1, 2), [1, 2]), ("text", ["text"]), ([], []), (7, [7])]
)
def test_anything_is_a_list(value: object, items: list[object]) -> None:
    assert filters.items_of(value) == items


def test_pairs_need_a_second_half() -> None:
    with pytest.raises(ValueError, match="shorter"):
        filters.exchange(["a"], "a")


@pytest.mark.parametrize(("name", "value", "arguments", "result"), CASES)
def test_a_filter(name: str, value: Any, arguments: tuple[Any, ...], result: Any) -> None:
    assert FILTERS[name].apply(value, *arguments) == result


def test_each_filter_has_a_case_and_a_meaning() -> None:
    assert {case[0] for case in CASES} == set(FILTERS)
    assert all(known.meaning for known in FILTERS.values())


@of_every("name", sorted(FILTERS))
@pytest.mark.parametrize("value", [None, "", 0, -1.5, True, [], {}, [[1]], {"a": {}}, "\ud800", 10**400])
def test_no_filter_raises_on_data(name: str, value: Any) -> None:
    known = FILTERS[name]
    samples: tuple[Any, ...] = ("x", 1, None, [], {})
    for argument in samples:
        known.apply(value, *[argument] * known.arguments[1 if name != "where" else 0])


def test_values_within_a_text() -> None:
    assert [as_text(value) for value in ("a", 1, True, None, [1])] == ["a", "1", "true", "null", "[1]"]
    assert as_text([2**64, "\ud800"]) == '[18446744073709551616,"\\ud800"]'
