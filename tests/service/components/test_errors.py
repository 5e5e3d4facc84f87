"""The exceptions of components carry one sentence, and what a request answered."""

from webapp.service.components.errors import ComponentError, HttpError, LoadError, ResultError


def test_a_failed_request_keeps_status_and_body() -> None:
    error = HttpError("The app refused.", 403, b'{"no": 1}')
    assert (str(error), error.status, error.body) == ("The app refused.", 403, b'{"no": 1}')
    silent = HttpError("No answer came.")
    assert (silent.status, silent.body) == (None, b"")


def test_whoever_catches_a_component_error_catches_them_all() -> None:
    for kind in (HttpError, LoadError, ResultError):
        assert issubclass(kind, ComponentError)
