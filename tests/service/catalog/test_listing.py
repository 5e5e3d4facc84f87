"""Keyset paging over a sorted list: every item once, both ways, and no cursor that is not of this list.
Words are folded alike on both sides of a search, and equal questions make equal filters."""

from dataclasses import replace

import pytest

from webapp.kit import cursors
from webapp.kit.text import fold
from webapp.service.catalog.listing import EVERYTHING, MAX_WORDS, Filter, Listing, Order, Subset, words

MARK = "numbers"


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
