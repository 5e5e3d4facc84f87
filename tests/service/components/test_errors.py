"""The exceptions of components carry one sentence, and what a request answered."""

from pathlib import Path

import pytest

from webapp.service.components.errors import MESSAGE_CHARS, ComponentError, HttpError, LoadError, ResultError, describe


def test_a_failed_request_keeps_status_and_body() -> None:
    error = HttpError("The app refused.", 403, b'{"no": 1}')
    assert (str(error), error.status, error.body) == ("The app refused.", 403, b'{"no": 1}')
    silent = HttpError("No answer came.")
    assert (silent.status, silent.body) == (None, b"")


def test_whoever_catches_a_component_error_catches_them_all() -> None:
    for kind in (HttpError, LoadError, ResultError):
        assert issubclass(kind, ComponentError)


COMPONENT = Path("/apps/acme/actions/do/1.0.0.py")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ComponentError("Choose a project."), "exception", "Choose a project."),
        (ComponentError(), "exception", "The component failed without a reason."),
        (HttpError("No answer.", 502), "http", "No answer."),
        (LoadError("Two classes."), "load", "Two classes."),
        (ResultError("Too large."), "result", "Too large."),
        (SyntaxError("bad"), "load", "SyntaxError: bad"),
        (KeyError("x"), "exception", "KeyError: 'x'"),
        (Mute(), "exception", "The component failed by Mute."),
        (SystemExit(1), "exception", "The component ended its own process."),
    ],
)
def test_kind_and_sentence(error: BaseException, kind: str, message: str) -> None:
    report = describe(error, COMPONENT)
    assert (report["kind"], report["name"], report["stack"]) == (kind, type(error).__name__, "")
    assert report["message"].startswith(message)
    assert report["status"] == getattr(error, "status", None)


def test_a_long_message_is_cut() -> None:
    assert len(describe(ValueError("x" * 9_000), COMPONENT)["message"]) == MESSAGE_CHARS


def test_the_stack_holds_the_components_own_frames(tmp_path: Path) -> None:
    file = tmp_path / "acme" / "actions" / "do" / "1.0.0.py"
    file.parent.mkdir(parents=True)
    file.write_text("def run():\n    return int('x')\n")
    space: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    try:
        space["run"]()  # type: ignore[operator]
    except ValueError as error:
        stack = describe(error, file)["stack"]
    assert "actions/do/1.0.0.py" in stack and str(tmp_path) not in stack and "test_error_report" not in stack
