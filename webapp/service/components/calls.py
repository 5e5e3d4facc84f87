"""The values that a runner takes and returns: :class:`Call` and :class:`Reply`.

A failing component is part of a Reply, never an exception. :mod:`child_calls` decides which parts of a Call its process
gets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.service.components.limits import RUN_S
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.probe import RefusalRules

Method = Literal["declare", "options", "reload", "run", "deploy", "activate", "deactivate", "renew", "handshake"]
ErrorKind = Literal[
    "exception",  # the component raised
    "http",  # an HTTP request of it failed; see status
    "load",  # its file cannot be loaded
    "result",  # its result cannot be serialized as JSON
    "output",  # result and logs are larger than the cap
    "memory",  # it exceeded its memory limit
    "timeout",  # it was still running at its deadline
    "crash",  # its process ended without a result
    "runner",  # the runner could not be reached
]


@dataclass(frozen=True, slots=True)
class AccountGrant:
    """The account that an app prop was given, with everything that requests to its app need.

    All templates except those of ``placements`` are filled in. ``secrets`` names the members of ``values`` to mask in
    logs; None masks all of them. ``app`` is the slug of the account's app.
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

    ``prop``, ``page``, ``query`` and ``previous`` (the context of the page before) belong to ``options``. ``state`` is
    the memory of a trigger, ``event`` the tick or request that started it, ``endpoint`` its own URL. ``mask`` holds
    further values to mask in logs, such as those of secret props. ``allow_hosts`` are private targets
    (``host[:port]``) that this call may reach. ``files``, base64 by name, are put into the call's folder first; with
    ``stash``, the files that it writes by ``ctx.files`` are part of the reply. For a piece, ``user`` is a key of the
    external user ("" for none), and ``hosts`` are the rules for the hosts that it may reach.
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
    careful: bool = False


@dataclass(frozen=True, slots=True)
class PieceBounds:
    """Limits of the processes for pieces: their number, the memory of each, and how long an idle one is kept."""

    processes: int = 8
    memory_mb: int = 256
    idle_s: float = 30


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """Why a call failed: ``message`` is one sentence; ``stack`` the component's own frames, for its author.

    ``lacking_scopes`` are OAuth scopes that it needs and the account ``account_id`` was not given.
    """

    kind: ErrorKind
    name: str
    message: str
    stack: str = ""
    status: int | None = None
    account_id: str = ""
    lacking_scopes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The error as part of an observation (contract "Observations")."""
        shown = {"name": self.name, "message": self.message, "stack": self.stack}
        more = {"account_id": self.account_id, "lacking_scopes": list(self.lacking_scopes)}
        return {**shown, **more} if self.lacking_scopes else {**shown}


@dataclass(frozen=True, slots=True)
class Observation:
    """One line of a call's log: ``k`` is ``log`` or ``error``, ``ts`` epoch milliseconds."""

    k: str
    ts: int
    msg: str | None = None
    err: ErrorInfo | None = None

    def to_json(self) -> dict[str, Any]:
        """The observation as the API shows it (contract "Observations")."""
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
    """A trigger's response to the request that started it. ``headers`` never contain a line break."""

    status: int
    body: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a component wrote. The component chose its name, which has no slashes."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a call. ``value`` depends on the method:

    - declare: the declaration (see loader) and its ``problems`` (see checker)
    - options: ``{"options": [...] | None, "string_options": [...] | None, "context": {...} | None}``
    - reload: the whole new list of props, as wire JSON
    - run: the component's return value

    The last of a failed call's ``observations`` is its error. ``state`` holds the changes to a trigger's memory;
    ``response`` is its response to the request that started it, if any; ``files`` are those that the component wrote,
    if the call has ``stash`` and succeeded. ``refused`` names the app props whose credential the provider refused;
    with ``repeatable``, nothing was changed before that, so the call may be made again. ``ends_at`` (epoch
    milliseconds) is when the trigger's subscription at its app ends unless it is renewed. ``refused_hosts`` are the
    hosts that a piece tried to reach against its rules. ``tool_changed``: a tool of an MCP server was called although
    it has changed since an owner of the service, or the service itself, saw it.
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
    tool_changed: bool = False

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None
