"""Passwords: which may be chosen, how one is kept, and checks that take the same time."""

import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS  # type: ignore[import-untyped]  # it carries no types

from tests.conftest import CountedSlot
from tests.once.passwords import THOROUGH
from webapp.people import passwords

GOOD = "correct horse battery"


@pytest.fixture(autouse=True)
def _thorough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_hasher", THOROUGH)


def test_a_password_is_kept_as_argon2id() -> None:
    stored = passwords.hashed(GOOD)
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$") and GOOD not in stored
    assert passwords.matches(stored, GOOD) and not passwords.matches(stored, GOOD + "!")


def test_others_compute_while_a_password_is_hashed(slot: CountedSlot) -> None:
    passwords.matches(passwords.hashed(GOOD), GOOD)
    assert (slot.released, slot.reacquired) == (2, 2)


def test_nobodys_password_costs_as_much_and_never_matches() -> None:
    assert passwords.hashed(GOOD).rsplit("$", 2)[0] == passwords._DUMMY.rsplit("$", 2)[0]  # what decides the cost
    assert not passwords.matches(None, GOOD)


@pytest.mark.parametrize(
    "password", ["пароль подлиннее", "🔑" * 10, "tab\tand\x00nul inside", "x" * 1_000, " " * 10, "ﬁve ﬁne ﬁsh"]
)
def test_any_unicode_makes_a_password(password: str) -> None:
    normal, problems = passwords.checked(password)
    assert problems == [] and passwords.matches(passwords.hashed(normal), password)


def test_composed_and_decomposed_are_the_same() -> None:
    assert passwords.checked("cafe\u0301 au lait") == passwords.checked("caf\u00e9 au lait")


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("short", "at least 10"),
        ("x" * 1_001, "at most 1,000"),
        ("lone surrogate \ud800", "cannot be stored"),
        ("password123", "Many people use"),
        ("1Q2w3e4r5t", "Many people use"),
        ("\uff50assword123", "Many people use"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(password: str, says: str) -> None:
    (problem,) = passwords.checked(password)[1]
    assert problem.field == "password" and says in problem.message


def test_the_list_of_common_passwords_is_long() -> None:
    ranked = [word for word in FREQUENCY_LISTS["passwords"][:10_000] if len(word) >= passwords.MIN_PASSWORD]
    assert len(ranked) > 200 and all(passwords.checked(word)[1] for word in ranked)
