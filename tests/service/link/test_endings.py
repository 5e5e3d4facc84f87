"""Every error of a visit has a named ending, with a sentence and a step."""

import pytest

from webapp.errors import NotFound, PatchbayError, Unavailable
from webapp.service.domain.base import failures
from webapp.service.link import endings


def test_the_failures_own_sentence_replaces_the_default() -> None:
    ending, sentence = endings.of_error(failures.RejectedByProvider("The provider says no."))
    assert (ending.code, sentence) == (failures.RejectedByProvider.code, "The provider says no.")
    ending, sentence = endings.of_error(failures.LinkExpired())
    assert sentence == ending.sentence


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (endings.Ended(endings.COOKIE_GONE), "session_lost"),
        (Unavailable("Busy."), "unavailable"),
        (NotFound("No such app."), "app_not_found"),
        (PatchbayError("Broken."), "internal_error"),
    ],
)
def test_other_errors(error: PatchbayError, code: str) -> None:
    assert endings.of_error(error)[0].code == code


def test_an_unknown_code_is_an_error_of_ours() -> None:
    assert endings.of_code("nonsense") == endings.of_code(None) == endings.INTERNAL
