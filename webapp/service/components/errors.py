"""The exceptions of components and of what runs them. A message is the sentence that a person reads."""


class ComponentError(Exception):
    """The component cannot go on, and says why in one sentence. Raise it for what the person can put right."""


class HttpError(ComponentError):
    """A request got no good answer. ``status`` is None when no answer came at all; ``body`` is what the answer held."""

    def __init__(self, message: str, status: int | None = None, body: bytes = b"") -> None:
        super().__init__(message)
        self.status, self.body = status, body


class LoadError(ComponentError):
    """The file holds no component that can be loaded."""


class ResultError(ComponentError):
    """A value that JSON cannot carry, or that is too large."""
