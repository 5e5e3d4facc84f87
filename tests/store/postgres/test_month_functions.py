"""The functions of months: what they say of ids is what we say, and a change of them needs a new number."""

import hashlib

from webapp.kit.crypto import ordered_id_at
from webapp.store.months import name_of, number_of, start_of
from webapp.store.postgres import month_functions, schema
from webapp.store.postgres.store import PostgresStore


def test_functions_that_change_need_a_new_number() -> None:
    digest = hashlib.sha256("".join(month_functions.functions("public")).encode()).hexdigest()
    assert (schema.MONTHS, digest[:16]) == ("functions_months_1", "17d5b6632c1c0b95")


def test_the_database_and_we_mean_the_same_ids(postgres: PostgresStore) -> None:
    numbers = range(number_of("2024_12"), number_of("2027_03"))
    rows = postgres.tuples(
        "SELECT patchbay_id_at('evt', n), patchbay_month_name(n) FROM generate_series(24299, 24325) AS n ORDER BY n"
    )
    assert rows == [(ordered_id_at("evt", start_of(number)), name_of(number)) for number in numbers]
