"""Addresses under ``/v1``: the converters of path parameters, double slashes, and addresses without an operation."""

import functools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from flask import Response, request
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule

from webapp.errors import NotFound
from webapp.service.api.base import cors, problems
from webapp.service.api.base.dispatch import View, answered
from webapp.service.api.base.operations import Operation
from webapp.service.domain.base.service import Service

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_SLASHES = re.compile("/{2,}")


class ProjectConverter(BaseConverter):
    """A project's id (contract "Ids")."""

    regex = "proj_[a-zA-Z0-9]+"


class ComponentConverter(BaseConverter):
    """A component's key, which may contain slashes, or its id; never one of the verbs in the same position."""

    regex = "(?!(?:configure|props|run|deploy)$)[^/].*?"
    part_isolating = False


class DeliveryConverter(BaseConverter):
    """A delivery's id; never the verb in the same position."""

    regex = "(?!resend$)[^/]+"
    part_isolating = True


class LoginConverter(BaseConverter):
    """A person's id (contract "Ids"); never the word in the same position."""

    regex = "u_[a-zA-Z0-9]+"


class PieceConverter(BaseConverter):
    """An integration's id; never the verb in the same position."""

    regex = "(?!look$)[^/]+"
    part_isolating = True


class RestConverter(BaseConverter):
    """Whatever is left of a path: slashes and, unlike with the framework's own converter, line breaks too."""

    regex = "(?s:.*)"
    part_isolating = False


CONVERTERS = {
    "project": ProjectConverter,
    "component": ComponentConverter,
    "delivery": DeliveryConverter,
    "login": LoginConverter,
    "piece": PieceConverter,
    "rest": RestConverter,
}


def unrouted_view(service: Service, operations: Sequence[Operation]) -> View:
    """The view of every request under ``/v1`` that no operation answers: preflights, other methods, unknown paths."""

    @functools.cache  # made for the first request that nothing answers
    def routes() -> MapAdapter:
        named = tuple((rule, each.method, each.name) for each in operations for rule in each.rules)
        return _map_of(named).bind("localhost")

    def produce() -> Response:
        if cors.is_preflight(request):
            return cors.preflight(service, request)
        methods = _allowed_methods(routes(), request.path)
        if not methods:
            raise NotFound("There is nothing at this address; check its path.")
        allowed = ", ".join(sorted({*methods, "OPTIONS"}))
        if request.method == "OPTIONS":
            return Response(status=204, headers={"Allow": allowed})
        raise problems.NoSuchMethod(allowed)

    def view(rest: str = "") -> Response:
        return answered(service, {}, produce)

    return view


@functools.cache  # working it out takes long, and all applications of a process have the same operations
def _map_of(named: tuple[tuple[str, str, str], ...]) -> Map:
    """The rules, methods and names of operations."""
    rules = [Rule(rule, methods=[method], endpoint=name) for rule, method, name in named]
    return Map(rules, converters=CONVERTERS, merge_slashes=False)


def _allowed_methods(routes: MapAdapter, path: str) -> list[str]:
    """The methods of the address that ``path`` names; of ``projects/info``, not those of a project called "info"."""
    rules = {method: routes.match(path, method, return_rule=True)[0] for method in routes.allowed_methods(path)}
    fewest = min((len(rule.arguments) for rule in rules.values()), default=0)
    return [method for method, rule in rules.items() if len(rule.arguments) == fewest]


def collapse_slashes(wsgi_app: "WSGIApplication") -> "WSGIApplication":
    """``wsgi_app``, for which every run of slashes in the path is one (contract "Paths"). The query is unchanged.

    A browser client without a project calls ``/v1/connect//accounts``. A redirect would answer it too, but browsers
    refuse to follow one after a preflight. A slash that was sent as ``%2F`` belongs to an id, such as that of the
    external user ``a//b``, and stays.
    """

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if "//" in path:
            environ["PATH_INFO"] = _collapsed(environ, path)
        return wsgi_app(environ, start_response)

    return application


def _collapsed(environ: "WSGIEnvironment", path: str) -> str:
    """``path`` without runs of slashes, by the raw address, if the server gives it, since only that has ``%2F``."""
    sent, prefix = environ.get("REQUEST_URI", "").partition("?")[0], environ.get("SCRIPT_NAME", "")
    if "%2f" in sent.lower() and unquote(sent, "latin-1") == prefix + path:
        collapsed = unquote(_SLASHES.sub("/", sent), "latin-1")[len(prefix) :]
        if collapsed.startswith("/v1/"):  # pages have no such ids, and redirect to where they are
            return collapsed
    return _SLASHES.sub("/", path)
