"""What goes to the runner and what comes back, as values: :class:`Call` and :class:`Reply`.

What of a Call travels to its process is ``child_calls``'s. A failing component is part of a Reply, never an exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.service.outbound.probe import RefusalRules
from webapp.service.outbound.templates import Placement

Method = Literal["declare", "options", "reload", "run", "deploy", "activate", "deactivate", "renew", "handshake"]
ErrorKind = Literal[
    "exception",  # the component raised
    "http",  # a request of it got no good answer; see status
    "load",  # its file cannot be loaded
    "result",  # it returned something that JSON cannot carry
    "output",  # result and logs are larger than the cap
    "memory",  # it took more memory than it may
    "timeout",  # it was still working at its deadline
    "crash",  # its process ended without a result
    "runner",  # the runner itself could not be asked
]
RUN_S = 30.0
CONFIGURE_S = 20.0
USER_AGENT = "Patchbay/0.1"


@dataclass(frozen=True, slots=True)
class AccountGrant:
    """The account given to one app prop, with all that a request to its app needs. Every template is filled but
    those of ``placements``. ``app`` is the slug of its app.

    ``secrets`` names the members of ``values`` to mask in logs; None masks all of them.
    """

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    base_url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    placements: tuple[Placement, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] | None = None
    refusals: RefusalRules = field(default_factory=RefusalRules)
    app: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one method of a component. ``props`` are validated, unwrapped values without the app props.

    ``prop``, ``page``, ``query`` and ``previous`` (the context of the page before) belong to ``options``; ``state``
    is what a trigger remembers, ``event`` what set it off, ``endpoint`` its own URL. ``mask`` holds further values to
    mask in logs, such as those of secret props. ``allow_hosts`` are private targets (``host[:port]``) that this call
    may reach. ``files`` stand in the call's folder before it begins, by name and as base64; ``stash``: what it writes
    by ``ctx.files`` is wanted. For a piece, ``user`` is a key of the external user for whom it is ("" for nobody's),
    and ``hosts`` are the rules of what it may reach.
    """

    path: str
    key: str = ""
    version: str = ""
    method: Method = "run"
    props: Mapping[str, Any] = field(default_factory=dict, repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    accounts: Mapping[str, AccountGrant] = field(default_factory=dict)
    prop: str | None = None
    page: int = 0
    query: str | None = None
    previous: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    event: Any = field(default=None, repr=False)
    endpoint: str | None = None
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    stash: bool = False
    mask: tuple[str, ...] = field(default=(), repr=False)
    deadline_s: float = RUN_S
    allow_hosts: tuple[str, ...] = ()
    user: str = ""
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PieceBounds:
    """What processes for pieces may take: how many, how much memory each, and how long one waits for its user."""

    processes: int = 8
    memory_mb: int = 256
    idle_s: float = 30


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """Why a call failed: ``message`` is one sentence; ``stack`` the component's own frames, for its author."""

    kind: ErrorKind
    name: str
    message: str
    stack: str = ""
    status: int | None = None

    def to_json(self) -> dict[str, str]:
        """As an observation carries it (contract "Observations")."""
        return {"name": self.name, "message": self.message, "stack": self.stack}


@dataclass(frozen=True, slots=True)
class Observation:
    """One line of a call's log: ``k`` is ``log`` or ``error``, ``ts`` epoch milliseconds."""

    k: str
    ts: int
    msg: str | None = None
    err: ErrorInfo | None = None

    def to_json(self) -> dict[str, Any]:
        """As the wire has it (contract "Observations")."""
        shown: dict[str, Any] = {"k": self.k, "ts": self.ts}
        if self.msg is not None:
            shown["msg"] = self.msg
        if self.err is not None:
            shown["err"] = self.err.to_json()
        return shown


@dataclass(frozen=True, slots=True)
class Emitted:
    """An event that a trigger emitted."""

    event: Any = field(repr=False)
    id: str | None
    summary: str | None
    ts: int


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a trigger answers to the request that set it off. ``headers`` never hold a line break."""

    status: int
    body: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a component wrote. Its name is the component's choice, without slashes."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a call. ``value`` by method:

    - declare: the declaration (see loader) and its ``problems`` (see checker)
    - options: ``{"options": [...] | None, "string_options": [...] | None, "context": {...} | None}``
    - reload: the whole new list of props, as wire JSON
    - run: what it returned

    A failed call ends its ``observations`` with the error. ``state`` holds what a trigger changed in its memory;
    ``response`` is its answer to the request that set it off, if it gave one; ``files`` are what it wrote, where that
    is wanted and it did not fail. ``refused`` names the app props whose credential the provider refused;
    ``repeatable``: until then nothing was changed anywhere, so that the call may be made again. ``ends_at`` (epoch
    milliseconds) is when what the trigger made at its app ends, and has to be renewed. ``refused_hosts`` are those that
    a piece asked for and may not reach.
    """

    value: Any = field(repr=False)
    exports: Mapping[str, Any] = field(default_factory=dict, repr=False)
    observations: tuple[Observation, ...] = ()
    error: ErrorInfo | None = None
    took_ms: int = 0
    events: tuple[Emitted, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    response: HttpAnswer | None = None
    files: tuple[WrittenFile, ...] = ()
    refused: tuple[str, ...] = ()
    repeatable: bool = True
    ends_at: int | None = None
    refused_hosts: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the component did what it was asked."""
        return self.error is None
