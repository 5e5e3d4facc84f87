"""What stands at no operation: preflights, other methods and unknown addresses under ``/v1``."""

from flask import Response, request
from werkzeug.routing import BaseConverter, Map, Rule

from webapp.errors import NotFound
from webapp.service.api.base import cors, problems
from webapp.service.api.base.dispatch import View, answered
from webapp.service.api.base.operations import Operation
from webapp.service.domain.base.service import Service


class ProjectConverter(BaseConverter):
    """A project's id in a path (specification section 4)."""

    regex = "proj_[a-zA-Z0-9]+"


class ComponentConverter(BaseConverter):
    """A component's key, which may hold slashes, or its id; never one of the verbs that stand in the same place."""

    regex = "(?!(?:configure|props|run|deploy)$)[^/].*?"
    part_isolating = False


class DeliveryConverter(BaseConverter):
    """A delivery's id; never the verb that stands in the same place."""

    regex = "(?!resend$)[^/]+"
    part_isolating = True


class RestConverter(BaseConverter):
    """Whatever is left of a path: slashes and, unlike the framework's own, line breaks too."""

    regex = "(?s:.*)"
    part_isolating = False


CONVERTERS = {
    "project": ProjectConverter,
    "component": ComponentConverter,
    "delivery": DeliveryConverter,
    "rest": RestConverter,
}


def view_of(service: Service, operations: tuple[Operation, ...]) -> View:
    """The view for every request under ``/v1`` that no operation answers."""
    rules = [Rule(rule, methods=[one.method], endpoint=one.name) for one in operations for rule in one.rules]
    known = Map(rules, converters=CONVERTERS, merge_slashes=False).bind("localhost")

    def produce() -> Response:
        if cors.is_preflight(request):
            return cors.preflight(service, request)
        methods = known.allowed_methods(request.path)
        if not methods:
            raise NotFound("There is nothing at this address; check its path.")
        allowed = ", ".join(sorted({*methods, "OPTIONS"}))
        if request.method == "OPTIONS":
            return Response(status=204, headers={"Allow": allowed})
        raise problems.NoSuchMethod(allowed)

    def view(rest: str = "") -> Response:
        return answered(service, {}, produce)

    return view
