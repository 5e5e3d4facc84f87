"""Which errors are an answer to the person at the keyboard, and which are bugs that keep their traceback."""

import pytest

from webapp.cli.sentences import sentence_of
from webapp.errors import NotFound
from webapp.service.domain.base.keyring import WrongKey
from webapp.settings import BadSetting


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NotFound("There is no such project."), "There is no such project."),
        (BadSetting("PATCHBAY_PORT must be a number."), "PATCHBAY_PORT must be a number."),
        (WrongKey(), str(WrongKey())),
        (
            PermissionError(13, "Permission denied", "/data"),
            "/data cannot be used (permission denied); check PATCHBAY_DATA.",
        ),
        (OSError(98, "Address already in use"), "The system refused: address already in use."),
        (OSError("no number"), None),
        (KeyError("x"), None),
        (RuntimeError("a bug"), None),
        (KeyboardInterrupt(), None),
    ],
)
def test_the_sentence_of(error: BaseException, sentence: str | None) -> None:
    assert sentence_of(error) == sentence
