"""What an operation of the API is: its address, who may call it, and the handler behind it.

Each noun's module keeps its operations as a table; :mod:`table` joins them. Routing, the tests of every route with
every kind of token, and the description of the API are all read from there (WIRE "Who may call what").
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from flask import Response

from webapp.service.api.base.call import Call
from webapp.service.api.base.schema import Body, Query

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
PROJECT = "/v1/connect/<project:project_id>"
NO_PROJECT = "/v1/connect"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. A ``path`` that starts with ``P`` stands under a project.

    ``scopes``: any one of them admits; without any, every valid token is admitted. ``connect``: whether a Connect
    token may call it at all (then for its own user alone). ``user_key``: whether a person's API key may call it.
    ``public``: it needs no Authorization header.
    """

    name: str
    method: Method
    path: str
    handler: Callable[[Call], Response]
    scopes: tuple[str, ...] = ()
    connect: bool = True
    public: bool = False
    user_key: bool = False
    query: type[Query] | None = None
    body: type[Body] | None = None

    @property
    def in_project(self) -> bool:
        """Whether the operation works in one environment of one project."""
        return self.path.startswith("P/")

    @property
    def rules(self) -> tuple[str, ...]:
        """The addresses to route: a project's paths also work without the project, which the token then names."""
        if not self.in_project:
            return (self.path,)
        return PROJECT + self.path[1:], NO_PROJECT + self.path[1:]
