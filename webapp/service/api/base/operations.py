"""Operations of the API. Each is declared once, by a decorator on its handler, in the module of its noun.

Routing, access checks, rate limits, ``/openapi.json``, the reference page and the tests of every route with every kind
of token come from these declarations (contract "Who may call what"). Each names the rate limit that it counts towards
(contract "Rate limits").
"""

import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Literal, ParamSpec

from flask import Response

from webapp.service.api.base.call import Call
from webapp.service.api.base.models import Body, ExternalUserId, NoContent, ProjectId, Query
from webapp.service.domain.base.rate_limits import LimitName

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Handler = Callable[[Call], Response]
NO_CONTENT = NoContent()
P = ParamSpec("P")
PROJECT = "/v1/connect/<project:project_id>"
NO_PROJECT = "/v1/connect"
PROVIDER_ERRORS = (502, 504)  # of operations that call the app's own provider
USER = "user-123"
OWNER = {"external_user_id": USER}
HEADER = "x-pd-rate-limit"


@dataclass(frozen=True, slots=True)
class Group:
    """A group of operations in the reference, with one sentence about it."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class PathParameter:
    """A parameter in an address; ``type`` is the type that its value is checked against."""

    name: str
    description: str
    example: str
    type: Any = None


PROJECT_ID = PathParameter("project_id", "The project's id (`proj_…`).", "$PROJECT_ID", ProjectId)
EXTERNAL_USER_ID = PathParameter("external_user_id", "Your id of the user.", USER, ExternalUserId)


@dataclass(frozen=True, slots=True)
class Example:
    """A request that runs: the tests send each of them, as the reference page prints it.

    ``body`` is JSON, ``file`` the content of an uploaded file.

    ``path`` overrides the examples of the path's parameters. ``$NAMES`` are variables of an installation;
    :data:`webapp.service.api.reference.page.VARIABLES` says where each comes from.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True)
class Operation:
    """One operation. A ``path`` that starts with ``P`` is below a project.

    ``name``: its operation id, the name of its handler unless given. ``answer``: the model of what it answers.
    ``scopes``: any one of them admits; without any, every valid token is admitted. ``connect``: whether a Connect token
    may call it at all (then only for its own user). ``user_key``: whether a person's API key may call it. ``public``:
    it needs no Authorization header. ``limit``: the rate limit that it counts towards. ``errors``: statuses beyond
    those that follow from the rest. ``extension``: whether it is Patchbay's own. ``workspace``: whether it
    takes a client of the whole workspace, not of one project. ``oauth``: it follows RFC 6749, so
    that its body may be a form and its errors are those of section 5.2. ``proxied``: its body and answer are the app's.
    ``upload``: its body is a file, or a form with one. ``older``: other paths, by which earlier clients call it; the
    reference leaves them out.
    """

    handler: Handler
    group: Group
    parameters: Mapping[str, PathParameter]
    method: Method
    path: str
    answer: Any = NO_CONTENT
    scopes: tuple[str, ...] = ()
    connect: bool = True
    public: bool = False
    user_key: bool = False
    query: type[Query] | None = None
    body: type[Body] | None = None
    limit: LimitName | None = None
    errors: tuple[int, ...] = ()
    extension: bool = False
    workspace: bool = False
    oauth: bool = False
    proxied: bool = False
    upload: bool = False
    older: tuple[str, ...] = ()
    example: Example = field(default_factory=Example)
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or getattr(self.handler, "__name__", ""))

    @property
    def summary(self) -> str:
        """The summary: the docstring of its handler."""
        handler = getattr(self.handler, "func", self.handler)  # a partial's own docstring is that of partials
        return " ".join((inspect.getdoc(handler) or "").split())

    @functools.cached_property
    def in_project(self) -> bool:
        """Whether the operation works in one environment of one project."""
        return self.path.startswith("P/")

    @property
    def rules(self) -> tuple[str, ...]:
        """The addresses to route: a project's paths also work without the project, which the token then names."""
        return tuple(rule for path in (self.path, *self.older) for rule in _rules_of(path))

    @property
    def address(self) -> str:
        """Its path with ``{parameters}``."""
        return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", self.rules[0])

    @property
    def path_parameters(self) -> list[PathParameter]:
        """The parameters of its address. Raises ``KeyError`` for one that its module did not declare."""
        return [self.parameters[name] for name in re.findall(r"{(\w+)}", self.address)]


def _rules_of(path: str) -> tuple[str, ...]:
    return (PROJECT + path[1:], NO_PROJECT + path[1:]) if path.startswith("P/") else (path,)


def _declaring(
    make: Callable[Concatenate[Handler, Group, Mapping[str, PathParameter], Method, P], Operation], method: Method
) -> Callable[Concatenate["Operations", P], Callable[[Handler], Handler]]:
    def declare(self: "Operations", /, *args: P.args, **facts: P.kwargs) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            operation = make(handler, self.group, self.parameters, method, *args, **facts)
            self.append(replace(operation, **self.shared(method, facts)))
            return handler

        return add

    return declare


class Operations(list[Operation]):
    """The operations of one module, in the order of their declaration, with the parameters of their paths.

    ``@operations.get("P/accounts", answer=…)`` and the like declare the operation that the decorated handler answers;
    they take the fields of :class:`Operation`. Shared fields are set once here: ``read`` are the scopes of operations
    that only read, ``write`` those of the others; ``connect``, ``extension`` and ``workspace`` are defaults.
    """

    def __init__(
        self,
        group: Group,
        *parameters: PathParameter,
        read: tuple[str, ...] = (),
        write: tuple[str, ...] = (),
        connect: bool = True,
        extension: bool = False,
        workspace: bool = False,
    ) -> None:
        super().__init__()
        self.group, self.read, self.write = group, read, write
        self.facts = {"connect": connect, "extension": extension, "workspace": workspace}
        self.parameters = {parameter.name: parameter for parameter in (PROJECT_ID, *parameters)}

    def shared(self, method: Method, facts: Collection[str]) -> dict[str, Any]:
        """The value of a fact: the operation's own in ``facts``, else the module's."""
        common = {**self.facts, "scopes": self.read if method == "GET" else self.write}
        return {name: value for name, value in common.items() if name not in facts}

    get = _declaring(Operation, "GET")
    post = _declaring(Operation, "POST")
    put = _declaring(Operation, "PUT")
    patch = _declaring(Operation, "PATCH")
    delete = _declaring(Operation, "DELETE")
