"""Words are folded alike on both sides of a search, and equal questions make equal filters."""

from webapp.service.catalog.filters import MAX_WORDS, Filter, fold, words


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
