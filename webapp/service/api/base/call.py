"""One call of the API as its handler sees it: who calls, in which scene, and what was sent, already validated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from flask import Request
from pydantic import ValidationError

from webapp.errors import Invalid
from webapp.service.api.base import bodies
from webapp.service.api.base.schema import Body, Query, explain
from webapp.service.domain.access.callers import Caller
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Store

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)
ANYONE = Caller(frozenset())


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler works with. ``caller`` is :data:`ANYONE` where an operation is public."""

    service: Service
    request: Request
    path: Mapping[str, str]
    caller: Caller = ANYONE
    placed: Scene | None = None

    @property
    def store(self) -> Store:
        """The service's store."""
        return self.service.store

    @property
    def scene(self) -> Scene:
        """The environment of the project that an operation under ``P`` works in."""
        if self.placed is None:
            raise LookupError("this operation does not stand under a project")
        return self.placed

    @property
    def user(self) -> ExternalUser | None:
        """The one user whose things may be seen: a Connect token's own. None for an OAuth client, who sees all."""
        return self.caller.connect.user if self.caller.connect else None

    def query(self, model: type[Q]) -> Q:
        """The query string as ``model``; unknown parameters are ignored. Raises :class:`Invalid`."""
        try:
            args = self.request.args
        except UnicodeDecodeError as error:
            raise Invalid("The query string is not valid UTF-8; percent-encode it.") from error
        try:
            return model.read(args)
        except ValidationError as error:
            raise explain("query", error) from error

    def body(self, model: type[B]) -> B:
        """The JSON body as ``model``; unknown fields are ignored.

        Raises :class:`Invalid`, :class:`webapp.errors.UnsupportedMedia`.
        """
        try:
            return model.model_validate(bodies.read_json(self.request))
        except ValidationError as error:
            raise explain("body", error) from error
