"""A month is a range of ids, and its tables are called after it."""

from webapp.kit.clock import HOUR, parse_iso
from webapp.kit.crypto import ordered_id_at
from webapp.store.months import Month, name_of, number_at, number_of, start_of

NOVEMBER, DECEMBER = parse_iso("2026-11-01T00:00:00Z"), parse_iso("2026-12-01T00:00:00Z")


def test_months_are_counted_in_utc() -> None:
    number = number_at(NOVEMBER)
    assert (number_at(NOVEMBER - 1), number_at(DECEMBER - 1), number_at(DECEMBER)) == (number - 1, number, number + 1)
    assert (name_of(number), number_of("2026_11"), start_of(number)) == ("2026_11", number, NOVEMBER)
    assert name_of(number + 2) == "2027_01"


def test_a_month_has_the_ids_that_were_made_in_it() -> None:
    month = Month("2026_11")
    first, end = month.ids("evt")
    assert (first, end, month.end) == (ordered_id_at("evt", NOVEMBER), ordered_id_at("evt", DECEMBER), DECEMBER)
    assert first < ordered_id_at("evt", NOVEMBER + HOUR) < end


def test_what_is_before_the_months_has_all_ids_up_to_the_first_of_them() -> None:
    past = Month("before_2026_12")
    assert past.holds_earlier and past.end == DECEMBER
    assert past.ids("dlv") == ("", ordered_id_at("dlv", DECEMBER))
