"""The Connect API on a Flask application: every operation under ``/v1``, and errors as JSON only for those paths."""

from flask import Blueprint, Flask
from werkzeug.routing import Rule

from webapp.service.api.base import addresses, dispatch
from webapp.service.api.base.call_limits import Gate
from webapp.service.api.reference import page
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.base.service import Service

NAME = "api"


def register(app: Flask, service: Service) -> Blueprint:
    """Route all operations of :data:`webapp.service.api.table.OPERATIONS` to ``service``, and return the blueprint.

    These paths take bearer tokens and never a cookie, so the caller exempts the blueprint from CSRF checks.

    Raises :class:`webapp.settings.BadSetting` for a PATCHBAY_LIMITS_STORAGE that cannot be used.
    """
    app.url_map.converters.update(addresses.CONVERTERS)
    blueprint, gate = Blueprint(NAME, __name__), Gate(service)
    for operation in OPERATIONS:
        view = dispatch.view_of(service, operation, gate)
        for rule in operation.rules:
            blueprint.add_url_rule(
                rule, operation.name, view, methods=[operation.method], provide_automatic_options=False
            )
    app.register_blueprint(blueprint)
    _route_the_rest(app, service)
    page.register(app, service, OPERATIONS)
    return blueprint


def _route_the_rest(app: Flask, service: Service) -> None:
    """A rule without methods answers all of them, unknown ones too; Flask's own helper always sets some."""
    endpoint = f"{NAME}.elsewhere"
    app.view_functions[endpoint] = addresses.unrouted_view(service, OPERATIONS)
    for path in ("/v1", "/v1/<rest:rest>"):
        app.url_map.add(Rule(path, endpoint=endpoint, strict_slashes=True, merge_slashes=False))
