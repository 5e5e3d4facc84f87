"""The page of Integrations, with what a search by name finds at npm."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from flask import Response, make_response, render_template
from pydantic import StringConstraints

from webapp.dashboard.build.integrations import frame, view
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.pieces import Packages
from webapp.dashboard.dashboard import if_up, service
from webapp.dashboard.pages import ListQuery, at_most
from webapp.errors import Invalid, Unavailable

_MOST_OWN = 3


class IntegrationsQuery(ListQuery):
    """What is looked for."""

    q: Annotated[str, StringConstraints(strip_whitespace=True), at_most(100)] = ""


@frame.blueprint.get("")
def page() -> Response:
    """The page, with what a search found."""
    return show(IntegrationsQuery.of_request())


def show(query: IntegrationsQuery, entered: Mapping[str, str] | None = None, error: str = "") -> Response:
    """The page. ``entered`` are the hosts of integrations, by id, that came and could not be taken, for ``error``."""
    pieces = frame.pieces().list()
    packages, problem = _packages(query.q) if pieces and query.q else (None, "")
    context = view.parts(pieces) if pieces else {}
    template = "dashboard/build/integrations/page.html"
    texts: dict[str, Any] = {"query": query, "problem": problem, "entered": entered or {}, "error": error}
    texts["own"] = _own(query.q) if packages and not packages.items else ()
    return make_response(
        render_template(template, pieces=pieces, found=packages, **texts, **context), 422 if error else 200
    )


def _own(q: str) -> Sequence[App]:
    """Apps that are here already, and may be what nobody has made a package for."""
    apps = if_up(partial(service().apps, AppFilter(q), limit=_MOST_OWN))
    return apps.items if apps else ()


def _packages(q: str) -> tuple[Packages | None, str]:
    """The packages of that name, or why they cannot be told."""
    try:
        return frame.pieces().search(q), ""
    except Invalid as error:
        return None, error.message
    except Unavailable:
        return None, str(frame.AWAY)
