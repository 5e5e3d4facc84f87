"""The form of ``calls/<app>.toml``: calls of an app's components, and what its provider is asked and answers meanwhile.

A file is written from the provider's public reference, which ``source`` names. Each call says what it is given, what
comes of it, and in order every request that it makes.
"""

import base64
import functools
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

FOLDER = Path(__file__).with_name("calls")
NOW = 1_896_076_800_000  # 2030-01-31T08:00:00Z
IdAndSummary = tuple[str, str]


class Form(BaseModel):
    """Facts; a key that is not declared here is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Ask(Form):
    """A request that the provider is asked, ``POST /path`` behind the base URL or with a whole address, and its answer.

    ``query`` is the whole query; ``headers`` are among those that come; without ``json``, ``form``, ``multipart`` and
    ``text`` it has no body. A member of ``multipart`` is the text of that part.
    """

    request: str = Field(pattern=r"^(GET|HEAD|POST|PUT|PATCH|DELETE) (/|https?://)")
    query: dict[str, str | list[str]] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    json_: Any = Field(default=None, alias="json")
    form: dict[str, str | list[str]] | None = None
    multipart: dict[str, str] | None = None
    text: str | None = None
    status: int = 200
    answer: Any = None
    answer_text: str | None = None
    answer_headers: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_body(self) -> "Ask":
        if len({"json_", "form", "multipart", "text"} & self.model_fields_set) > 1:
            raise ValueError("a request has one body")
        if "answer" in self.model_fields_set and self.answer_text is not None:
            raise ValueError("there is one answer")
        return self


class Event(Form):
    """A request that comes to a trigger, at ``at`` (epoch milliseconds) or now."""

    headers: dict[str, str] = Field(default_factory=dict)
    body: str
    at: int | None = None


class Call(Form):
    """One call: of an ``action`` or a ``trigger``, of the ``options`` of a prop, or of the props that follow.

    An action: ``returns`` (left out: the last answer), ``summary``, ``keeps`` (the texts of files, by name), or the
    sentence with which it ``fails``. Options: ``offers``. Props that follow: ``adds``, their labels by name.
    A trigger that polls: ``first`` is emitted when it is deployed, ``emits`` on a tick. One with a webhook: it is
    switched on, a ``challenge`` comes where its app brings the secret, ``event`` comes and ``emits`` what it does, and
    it is switched off. With ``renews``, what either makes at its app is made, renewed and taken back at ``NOW``.
    """

    action: str = ""
    trigger: str = ""
    props: dict[str, Any] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    options: str = ""
    query_text: str | None = None
    page: int = 0
    previous: dict[str, Any] = Field(default_factory=dict)
    offers: dict[str, Any] | list[Any] | None = None
    adds: dict[str, str] | None = None
    returns: Any = None
    summary: str | None = None
    keeps: dict[str, str] = Field(default_factory=dict)
    fails: str | None = None
    secret: str = "s3cret"
    challenge: Event | None = None
    event: Event | None = None
    renews: bool = False
    first: list[IdAndSummary] = Field(default_factory=list)
    emits: list[IdAndSummary] = Field(default_factory=list)
    asks: list[Ask] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_kind(self) -> "Call":
        if bool(self.action) == bool(self.trigger):
            raise ValueError("a call is of one action or trigger")
        if bool(self.options) != (self.offers is not None):
            raise ValueError("options and offers belong together")
        return self

    @property
    def component(self) -> tuple[str, str]:
        """The folder of its kind, and its name."""
        return ("actions", self.action) if self.action else ("triggers", self.trigger)

    @property
    def encoded_files(self) -> dict[str, str]:
        """The files as a call has them."""
        return {name: base64.b64encode(text.encode()).decode() for name, text in self.files.items()}


class CallsOfApp(Form):
    """A whole file: the values of the ``account``, and the calls that are made with it."""

    source: str | list[str]
    account: dict[str, str] = Field(default_factory=dict)
    calls: list[Call]


def slugs() -> list[str]:
    """The apps that have a file."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@functools.cache
def calls_of(slug: str) -> CallsOfApp:
    """The file of one app."""
    return CallsOfApp.model_validate(tomllib.loads((FOLDER / f"{slug}.toml").read_text("utf-8")))
