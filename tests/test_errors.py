"""The tree, its statuses and its sentences."""

import re

import pytest

from webapp import errors
from webapp.errors import Detail, PatchbayError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PatchbayError)]
LEAVES = [kind for kind in KINDS if kind is not PatchbayError]


def test_the_docstring_draws_the_whole_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+) +(\d{3})", errors.__doc__ or "")
    assert drawn == [(kind.__name__, str(kind.status)) for kind in LEAVES]


def test_every_kind_is_an_error_status() -> None:
    assert all(400 <= kind.status < 600 for kind in LEAVES)
    assert PatchbayError.status == 500


@pytest.mark.parametrize("kind", [kind for kind in LEAVES if kind is not errors.Throttled])
def test_the_docstring_is_the_message_unless_another_is_given(kind: type[PatchbayError]) -> None:
    assert kind().message == str(kind()) == kind.__doc__
    assert kind.__doc__ is None or kind.__doc__.endswith((".", '<token>".'))
    assert kind("The tap is closed.").message == "The tap is closed."


def test_invalid_carries_details() -> None:
    error = errors.Invalid("The body is not valid.", [Detail("name", "Give a name.")])
    assert error.details == (Detail("name", "Give a name."),)
    assert errors.Invalid().details == ()


def test_what_is_missing_is_not_called_wrong() -> None:
    assert errors.Invalid.of("name", "It is missing; give one.").message == "name is missing; give one."
    assert errors.Invalid.of("name", "It is too long.").message == "name is not valid: It is too long."


def test_throttled_carries_when_to_come_back() -> None:
    error = errors.Throttled(limit=100, reset_at=1_800_000_060, retry_after=42)
    assert (error.message, error.limit, error.reset_at, error.retry_after) == ("Throttled", 100, 1_800_000_060, 42)
