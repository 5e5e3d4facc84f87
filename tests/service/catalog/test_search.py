"""Keyset paging over a sorted list: every item once, both ways, and no cursor that is not of this list.
Words are folded alike on both sides of a search, and equal questions make equal filters.

Search among apps, with every filter, sort and cursor.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import bare
from webapp.kit import cursors
from webapp.kit.crypto import stable_id
from webapp.kit.cursors import BadCursor, Window, encode
from webapp.kit.text import fold
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.search import (
    EVERYTHING,
    MAX_WORDS,
    STATES,
    Beginnings,
    Filter,
    Listing,
    Order,
    Search,
    SortDirection,
    State,
    States,
    Subset,
    words,
)

MARK = "numbers"
Declare = Callable[[str, str], Path]
Open = Callable[..., Catalog]
TOOLS, CAFE = stable_id("appcat", "tools"), stable_id("appcat", "cafe")
HOSTILE = (
    'c++"', "*", '"', "'", '""', "a*", "a OR b", "NOT a", "NEAR(a b)", "name:acme", "-acme", "acme)", "(acme",
    "{acme}", "^acme", "a\x00b", "\x00", "\ud800", "%", "_", "\\", ";DROP TABLE apps", "😀", "日本", "\u202e", "İ", "ß",
    "a" * 100_000, "a " * 50_000, '"' * 1_000, "AND", "OR", "NOT", "NEAR", "\t\n", "acme AND", "+", "a+b", "`", "--",
)  # fmt: skip


def key_of(number: int) -> tuple[int]:
    return (number,)


def listing(count: int = 7, *, descending: bool = False) -> Listing[int]:
    return Listing(range(count), Order((int,), key_of, descending))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_every_item_comes_once(limit: int, descending: bool) -> None:
    seen, cursor = list[int](), None
    while True:
        page = listing(descending=descending).page(cursors.Window(limit, after=cursor), MARK)
        assert page.total_count == 7
        seen += page.items
        if len(page.items) < limit or not page.end_cursor:
            break
        cursor = page.end_cursor
    assert seen == sorted(range(7), reverse=descending)


@pytest.mark.parametrize("descending", [False, True])
def test_the_way_back_is_the_same(descending: bool) -> None:
    numbers = listing(descending=descending)
    first = numbers.page(cursors.Window(3), MARK)
    second = numbers.page(cursors.Window(3, after=first.end_cursor), MARK)
    back = numbers.page(cursors.Window(3, before=second.start_cursor), MARK)
    assert list(back.items) == list(first.items)


def test_a_cursor_holds_when_items_are_added_before_it() -> None:
    first = listing(4).page(cursors.Window(2), MARK)
    grown = Listing([-2, -1, 0, 1, 2, 3], Order((int,), key_of))
    assert list(grown.page(cursors.Window(9, after=first.end_cursor), MARK).items) == [2, 3]


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = listing().page(cursors.Window(2), MARK).end_cursor
    with pytest.raises(cursors.BadCursor):
        listing().page(cursors.Window(2, after=cursor), "other")
    names = Listing(["a", "b"], Order((str,), lambda name: (name,)))
    with pytest.raises(cursors.BadCursor):
        names.page(cursors.Window(2, after=cursor), MARK)
    with pytest.raises(cursors.BadCursor):
        listing().page(cursors.Window(2, after="nonsense"), MARK)


def test_an_empty_list_has_an_empty_page() -> None:
    page = listing(0).page(cursors.Window(2), MARK)
    assert (list(page.items), page.total_count) == ([], 0)


def test_case_and_accents_do_not_count() -> None:
    assert fold("Café ÉLAN") == "cafe elan"
    assert words("Google-Sheets (v4), ”Ümlaut”_x") == ("google", "sheets", "v4", "umlaut", "x")


def test_nothing_typed_is_not_the_same_as_no_word() -> None:
    assert Filter.of(None, (), None, None, None).words is None
    assert Filter.of("   ", (), None, None, None).words is None
    assert Filter.of('"*-', (), None, None, None).words == ()
    assert len(Filter.of("a " * 99, (), None, None, None).words or ()) == MAX_WORDS


def test_equal_questions_are_equal() -> None:
    first = Filter.of("A b", ["x", "y"], False, None, True)
    assert first == Filter.of(" a  B ", ["y", "x", "x"], None, False, True)
    assert first.parts == (("a", "b"), ["x", "y"], False, False, True)
    assert first.narrows and not Filter.of("a", (), False, None, None).narrows


def test_a_subset_takes_part_in_the_fingerprint_but_for_its_clients() -> None:
    assert EVERYTHING.parts == ()
    waiting = Subset(without=frozenset({"b", "a"}), ready=False)
    assert waiting.parts == ([], ["a", "b"], False)
    assert replace(waiting, clients=frozenset({"github"})).parts == waiting.parts
    assert Filter.of(None, (), None, None, None, waiting).narrows
    assert not Filter.of(None, (), None, None, None).narrows


def slugs(catalog: Catalog, **question: Any) -> list[str]:
    """The slugs of a whole list; the count must be that of the list."""
    page = catalog.search(window=Window(limit=100), **question)
    assert page.total_count == len(page.items)
    return [app.slug for app in page.items]


def narrowed(**question: Any) -> Filter:
    """The filter of a question to the list."""
    asked: dict[str, Any] = {"q": None, "category_ids": (), "has_components": None, "has_actions": None} | question
    return Filter.of(**{"has_triggers": None} | asked)


def counted(catalog: Catalog, **question: Any) -> dict[str, int]:
    return catalog.category_counts(narrowed(**question))


def test_sorting(several: Catalog) -> None:
    featured = ["alpha", "zeta", "beans", "my_sheets", "acme", "globex"]
    assert slugs(several) == featured
    assert slugs(several, sort_key="featured_weight") == featured
    assert slugs(several, sort_key="featured_weight", sort_direction="desc") == featured
    assert slugs(several, sort_direction="asc") == ["acme", "globex", "my_sheets", "beans", "alpha", "zeta"]
    by_name = ["acme", "alpha", "beans", "zeta", "globex", "my_sheets"]
    assert slugs(several, sort_key="name") == by_name
    assert slugs(several, sort_key="name", sort_direction="desc") == by_name[::-1]
    by_slug = ["acme", "alpha", "beans", "globex", "my_sheets", "zeta"]
    assert slugs(several, sort_key="name_slug", sort_direction="asc") == by_slug
    assert slugs(several, sort_key="name_slug", sort_direction="desc") == by_slug[::-1]


def test_filters(several: Catalog) -> None:
    assert sorted(slugs(several, has_components=True)) == ["acme", "globex"]
    assert slugs(several, has_actions=True) == ["acme"]
    assert slugs(several, has_triggers=True) == ["globex"]
    assert slugs(several, has_actions=True, has_triggers=True) == []
    assert len(slugs(several, has_components=False, has_actions=False, has_triggers=False)) == 6
    assert slugs(several, category_ids=[CAFE]) == ["beans"]
    assert len(slugs(several, category_ids=[CAFE, TOOLS])) == 6
    assert slugs(several, category_ids=["appcat_nothing"]) == []
    assert slugs(several, category_ids=[TOOLS], has_actions=True, q="acm") == ["acme"]
    assert slugs(several, category_ids=[CAFE], q="acm") == []


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("acme", ["acme", "alpha"]),  # the name before the description, whatever the weight
        ("ACM", ["acme", "alpha"]),
        ("rockets acme", ["alpha", "acme"]),
        ("creme", ["beans"]),
        ("CRÈME", ["beans"]),
        ("beans, crème!", ["beans"]),
        ("Éclair", ["zeta"]),
        ("cafe", ["beans"]),
        ("mysheets", ["my_sheets"]),
        ("my_sheets", ["my_sheets"]),
        ("sheet", ["my_sheets"]),
        ("ets", []),
        ("acme nothing", []),
        ("???", []),
    ],
)
def test_q(several: Catalog, q: str, expected: list[str]) -> None:
    assert slugs(several, q=q) == expected


@pytest.mark.parametrize("blank", [None, "", "  ", "\t\n"])
def test_blank_q_is_no_q(several: Catalog, blank: str | None) -> None:
    assert len(slugs(several, q=blank)) == 6


@pytest.mark.parametrize("q", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_q_is_only_text(several: Catalog, q: str) -> None:
    page = several.search(q=q)
    assert page.total_count == len(page.items) <= 6
    assert sum(counted(several, q=q).values()) == page.total_count


def test_a_name_is_no_search_syntax_where_it_is_almost_typed(declare: Declare, opened: Open) -> None:
    declare("acme", bare("acme", r"Acme \"Web-widgets\""))
    assert slugs(opened(), q="webwidgetz") == []
    assert slugs(opened(), q="widgetz") == ["acme"]


def test_q_with_an_explicit_sort_keeps_that_sort(several: Catalog) -> None:
    assert slugs(several, q="acme", sort_key="featured_weight") == ["alpha", "acme"]
    assert slugs(several, q="acme", sort_key="name_slug", sort_direction="desc") == ["alpha", "acme"]


def test_people_with_other_apps_share_a_search(several: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    search, asked = Search(several.search().items, several.categories()), list[str]()

    def of(self: Beginnings, *beginnings: str) -> set[int]:
        asked.extend(beginnings)
        return set(range(6))

    monkeypatch.setattr(Beginnings, "of", of)

    def slugs_of(subset: Subset) -> list[str]:
        narrowed = Filter.of("a", (), None, None, None, subset)
        return [app.slug for app in search.page(narrowed, None, None, Window()).items]

    everything, once = slugs_of(Subset()), len(asked)
    for slug in everything:
        assert slugs_of(Subset(without=frozenset({slug}))) == [other for other in everything if other != slug]
        assert slugs_of(Subset(among=frozenset({slug}))) == [slug]
    assert len(everything) == 6 and len(asked) == once


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("listed", [STATES, ("ready",), ("connected", "setup")])
def test_by_state_every_app_comes_once_in_the_order_asked_for(
    several: Catalog, listed: tuple[State, ...], direction: SortDirection
) -> None:
    apps = several.search(window=Window(100), sort_key="name", sort_direction=direction).items
    shut = ("acme", "beans", "zeta")
    changed = [replace(app, auth_type="oauth" if app.slug in shut else "keys") for app in apps]
    search = Search(changed, several.categories())
    states = States(frozenset(listed), frozenset({"alpha", "acme"}), clients=frozenset({"zeta"}))
    of_state = {"connected": ["acme", "alpha"], "ready": ["zeta", "globex", "my_sheets"], "setup": ["beans"]}
    step = 1 if direction == "asc" else -1
    expected = [slug for state in STATES if state in listed for slug in of_state[state][::step]]
    seen, cursor = list[str](), None
    while cursor != "":
        found = search.by_state(narrowed(), "name", direction, Window(2, after=cursor), states)
        assert found.counts == {"connected": 2, "ready": 3, "setup": 1} and found.page.total_count == len(expected)
        seen, cursor = seen + [app.slug for app in found.page.items], found.page.end_cursor
    assert seen == expected
    counts = search.by_state(narrowed(q="acme"), "name", direction, Window(), states).counts
    assert sum(counts.values()) == 2
    assert search.by_state(narrowed(), None, None, Window(), replace(states, connected=frozenset())).counts == {
        "connected": 0, "ready": 4, "setup": 2,
    }  # fmt: skip


QUESTIONS = [
    {},
    {"sort_direction": "asc"},
    {"sort_key": "name"},
    {"sort_key": "name", "sort_direction": "desc"},
    {"sort_key": "name_slug", "sort_direction": "desc"},
    {"q": "a"},
    {"q": "app", "sort_key": "name", "sort_direction": "desc"},
    {"category_ids": [TOOLS]},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
@pytest.mark.parametrize("limit", [1, 4, 23, 100])
def test_paging_forwards_and_backwards(many: Catalog, question: dict[str, Any], limit: int) -> None:
    whole = slugs(many, **question)
    assert len(whole) == 23
    forwards, cursor = [], None
    while cursor != "":
        page = many.search(window=Window(limit, after=cursor), **question)
        assert page.total_count == 23
        forwards.append([app.slug for app in page.items])
        start, cursor = page.start_cursor, page.end_cursor
    assert [slug for part in forwards for slug in part] == whole
    backwards: list[str] = []
    while page.items:
        page = many.search(window=Window(limit, before=start), **question)
        backwards = [app.slug for app in page.items] + backwards
        start = page.start_cursor
    assert backwards + forwards[-1] == whole


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_after_and_before_cut_a_range(many: Catalog, question: dict[str, Any]) -> None:
    whole = slugs(many, **question)
    marks = {}
    cursor: str | None = None
    for slug in whole:
        page = many.search(window=Window(1, after=cursor), **question)
        marks[slug] = page.start_cursor
        cursor = page.end_cursor
    page = many.search(window=Window(100, after=marks[whole[3]], before=marks[whole[9]]), **question)
    assert [app.slug for app in page.items] == whole[4:9]
    page = many.search(window=Window(100, after=marks[whole[9]], before=marks[whole[3]]), **question)
    assert list(page.items) == []


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_cursors_hold_when_apps_are_added(
    many: Catalog, declare: Declare, opened: Open, question: dict[str, Any]
) -> None:
    whole = slugs(many, **question)
    first = many.search(window=Window(10), **question)
    for number in range(23, 40):
        declare(f"app_{number}", bare(f"app_{number}", f"App {number % 5}", weight=number % 4))
    grown = opened()
    second = grown.search(window=Window(100, after=first.end_cursor), **question)
    seen = [app.slug for app in first.items] + [app.slug for app in second.items]
    assert len(seen) == len(set(seen))
    assert [slug for slug in seen if slug in whole] == whole


def test_foreign_and_broken_cursors(many: Catalog) -> None:
    cursor = many.search(window=Window(5)).end_cursor
    questions: tuple[dict[str, Any], ...] = (
        {"sort_key": "name"},
        {"sort_direction": "asc"},
        {"q": "app"},
        {"category_ids": [TOOLS]},
        {"has_actions": True},
    )
    for question in questions:
        with pytest.raises(BadCursor):
            many.search(window=Window(5, after=cursor), **question)
    for broken in ("x", "%%%", cursor[:-3], "e30", "😀"):
        with pytest.raises(BadCursor):
            many.search(window=Window(5, after=broken))


def test_a_cursor_with_parts_of_another_type_is_broken(many: Catalog) -> None:
    from webapp.kit.cursors import fingerprint

    mark = fingerprint("apps", None, [], False, False, False, None, None)
    assert many.search(window=Window(5, after=encode(mark, (-3, "app", "app_01")))).items
    for key in (("x", "app", "app_01"), (-3, 5, "app_01"), (-3, "app", 7)):
        with pytest.raises(BadCursor):
            many.search(window=Window(5, after=encode(mark, key)))


def test_categories_and_counts(several: Catalog) -> None:
    assert [(one.name, one.id, one.apps) for one in several.categories()] == [("Café", CAFE, 1), ("Tools", TOOLS, 5)]
    cafe = several.category(CAFE)
    assert cafe is not None
    assert cafe.api_dict == {"id": CAFE, "name": "Café", "description": "Places to sit."}
    assert several.category("appcat_nothing") is None
    assert counted(several) == {CAFE: 1, TOOLS: 5}
    assert counted(several, q="acme") == {CAFE: 0, TOOLS: 2}
    assert counted(several, q="acme", has_actions=True) == {CAFE: 0, TOOLS: 1}
    questions: tuple[dict[str, Any], ...] = ({}, {"q": "a"}, {"has_components": True})
    for question in questions:
        counts = counted(several, **question)
        assert counts == {
            one.id: len(slugs(several, category_ids=[one.id], **question)) for one in several.categories()
        }


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("my shets", ["my_sheets"]),
        ("globx", ["globex"]),
        ("mysheet", ["my_sheets"]),
        ("myshetes", ["my_sheets"]),
        ("shets globx", []),
        ("ace", []),
        ("rockts", []),  # a word of a description, which nobody types to find an app
    ],
)
def test_a_name_that_is_typed_almost_right_finds_its_app(several: Catalog, typed: str, expected: list[str]) -> None:
    assert slugs(several, q=typed) == expected
    assert slugs(several, q=typed, has_triggers=True) == [slug for slug in expected if slug == "globex"]
