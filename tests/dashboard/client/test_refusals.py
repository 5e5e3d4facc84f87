"""Which error an answer is: the service's own sentence for a refusal, and nothing where it failed."""

import pytest

from webapp import errors
from webapp.dashboard.client import refusals
from webapp.dashboard.client.remote import Answer
from webapp.errors import Detail, PatchbayError, about
from webapp.kit import translation


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, errors.Unauthorized), (404, errors.NotFound), (405, errors.NotFound), (422, errors.Refused)],
)
def test_a_refusal_keeps_its_sentence(status: int, kind: type[PatchbayError]) -> None:
    refusal = refusals.of(Answer(status, {}, b'{"error": "Not so."}'))
    assert type(refusal) is kind and refusal.message == "Not so."


def test_what_is_invalid_is_told_by_field() -> None:
    content = b'{"error": "No.", "details": [{"field": "to", "message": "It is missing."}, 5, {"field": "x"}]}'
    refusal = refusals.of(Answer(400, {}, content))
    assert isinstance(refusal, errors.Invalid) and refusal.details == (Detail("to", "It is missing."),)


def test_a_limit_says_how_long_to_wait() -> None:
    refusal = refusals.of(Answer(429, {"retry-after": "7", "x-ratelimit-limit": "5"}, b""))
    assert isinstance(refusal, errors.Throttled) and (refusal.retry_after, refusal.limit) == (7, 5)


@pytest.mark.parametrize("status", [500, 503, 302])
def test_a_failure_is_no_refusal(status: int) -> None:
    assert refusals.of(Answer(status, {}, b"<html>")) is None


def test_a_refusal_is_put_into_the_language_of_its_reader(spoken: None) -> None:
    details = [Detail("to", "It must be at least 3."), Detail("cc", "Not ours.")]
    refusal = errors.Invalid(about("to", "It must be at least 3."), details)
    assert refusals.in_language(refusal).message == "to is not valid: It must be at least 3."
    translation.speak("de")
    german = refusals.in_language(refusal)
    assert isinstance(german, errors.Invalid) and german.message == "to: Es muss mindestens 3 sein."
    assert german.details == (Detail("to", "Es muss mindestens 3 sein."), Detail("cc", "Not ours."))
    conflict = refusals.in_language(errors.Conflict("This trigger was deleted meanwhile."))
    assert conflict.message == "Dieser Auslöser wurde inzwischen gelöscht."
