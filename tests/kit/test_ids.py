import re

import pytest

from webapp.kit import ids


@pytest.mark.parametrize("prefix", ["proj", "apn", "exu", "u"])
def test_a_new_id_is_its_prefix_and_base62(prefix: str) -> None:
    assert re.fullmatch(prefix + r"_[0-9A-Za-z]{14}", ids.new_id(prefix))


def test_new_ids_differ() -> None:
    assert len({ids.new_id("apn") for _ in range(2_000)}) == 2_000


def test_every_letter_of_the_alphabet_turns_up() -> None:
    assert set(ids.random_base62(20_000)) == set(ids.ALPHABET)
    assert len(ids.ALPHABET) == len(set(ids.ALPHABET)) == 62


def test_a_stable_id_is_the_same_on_every_machine() -> None:
    assert ids.stable_id("app", "github") == "app_UclYNFstR02L"
    assert ids.stable_id("app", "github") == ids.stable_id("app", "github")


def test_a_stable_id_depends_on_prefix_and_on_where_the_parts_end() -> None:
    found = {ids.stable_id("app", "ab", "c"), ids.stable_id("app", "a", "bc"), ids.stable_id("sc", "ab", "c")}
    assert len({one.partition("_")[2] for one in found}) == 3


def test_random_base62_has_the_length_asked_for() -> None:
    assert [len(ids.random_base62(n)) for n in (0, 1, 43)] == [0, 1, 43]
