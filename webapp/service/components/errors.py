"""The exceptions of components and of their runner, and their form in a Reply.

The message is a sentence for users. A Reply has the kind of the error, that sentence, and the component's own frames.
"""

import traceback
from pathlib import Path
from typing import Any

MESSAGE_CHARS, STACK_CHARS = 2_000, 8_000


class ComponentError(Exception):
    """The component cannot continue; the message is one sentence. Raise it for problems that the user can fix."""


class HttpError(ComponentError):
    """An HTTP request failed. ``status`` is None if there was no response; ``body`` is the body of the response."""

    def __init__(self, message: str, status: int | None = None, body: bytes = b"") -> None:
        super().__init__(message)
        self.status, self.body = status, body


class HeldBackError(ComponentError):
    """The component would not do what its owner saw when it was added, so it waits until the owner has looked."""


class LoadError(ComponentError):
    """The file contains no component that can be loaded."""


class ResultError(ComponentError):
    """A value that cannot be serialized as JSON, or is too large."""


_KINDS = ((HttpError, "http"), (LoadError, "load"), (ResultError, "result"))


def describe(error: BaseException, path: Path) -> dict[str, Any]:
    """``error`` as the runner reports it. The stack has only the frames of the component's own files."""
    kind = next((kind for type_, kind in _KINDS if isinstance(error, type_)), "exception")
    own = f"{_root(path)}/"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(own)]
    if not frames and isinstance(error, SyntaxError | ImportError):
        kind = "load"
    return {
        "kind": kind,
        "name": type(error).__name__,
        "message": _sentence(error)[:MESSAGE_CHARS],
        "stack": "".join(traceback.format_list(frames)).replace(f"{_root(path)}/", "")[-STACK_CHARS:],
        "status": error.status if isinstance(error, HttpError) else None,
    }


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "The component ended its own process. It must return a value or raise an error instead."
    try:
        message = str(error).strip()
    except Exception:
        message = ""
    if isinstance(error, ComponentError):
        return message or "The component failed without a reason."
    return f"{type(error).__name__}: {message}" if message else f"The component failed by {type(error).__name__}."


def _root(path: Path) -> Path:
    """The folder of the component's app, or the folder of the operator's own components."""
    folder = path.parent.parent
    return folder.parent if folder.name in ("actions", "triggers") else folder
