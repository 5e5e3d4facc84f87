"""The manual at ``/docs``: server-rendered pages and files to copy, for everybody; none runs a script or sets a cookie.

The reference of the API at ``/docs/api`` is the service's own; every page here leads to it.
"""

import gzip
from collections.abc import Callable, Sequence
from functools import partial

from flask import Blueprint, Flask, Response, abort, render_template, request
from jinja2.runtime import Undefined

from webapp import content_security_policies
from webapp.kit import assets, templates
from webapp.manual.files import FILES
from webapp.manual.pages import NAMES, Manual
from webapp.manual.search import headings, search
from webapp.service.components.confinement.confinement import Measure
from webapp.settings import Settings

_LONGEST_QUERY = 200


def register(
    app: Flask, settings: Settings, confinement: Callable[[], Sequence[Measure]]
) -> Callable[[str], list[tuple[str, str, str]]]:
    """Serve the manual of the installation with ``settings`` from ``app``; ``confinement`` tells what confines the code
    of components here. The result finds sections by their headings, as :func:`webapp.manual.search.headings`."""
    templates.prepare(app.jinja_env)
    manual, blueprint = Manual(settings), Blueprint("manual", __name__, url_prefix="/docs")
    blueprint.after_request(_finish)

    @blueprint.get("")
    def index() -> str:
        return _draw("index", manual)

    @blueprint.get("/search")
    def find() -> str:
        query = " ".join(request.args.get("q", "")[:_LONGEST_QUERY].split())
        return _draw("search", manual, query=query, hits=search(manual, query))

    @blueprint.get("/<name>")
    def page(name: str) -> str:
        if name not in NAMES:
            abort(404)
        measures = confinement() if name == "security" else ()
        return _draw("page", manual, page=manual.page(name), measures=measures)

    @blueprint.get("/files/<name>")
    def file(name: str) -> Response:
        if name not in FILES:
            abort(404)
        headers = {"Content-Disposition": f'inline; filename="{name}"', "X-Content-Type-Options": "nosniff"}
        return Response(FILES[name].read(), headers=headers, content_type="text/plain; charset=utf-8")

    app.register_blueprint(blueprint)
    return partial(headings, manual)


def _draw(template: str, manual: Manual, **context: object) -> str:
    theme = request.cookies.get("theme", "")
    return render_template(
        f"docs/{template}.html",
        manual=list(manual),
        theme=theme if theme in ("light", "dark") else "auto",
        asset=assets.asset_url,
        csrf_token=Undefined(),  # the dashboard's, which would set its session cookie here
        **context,
    )


def _finish(response: Response) -> Response:
    """Protect the page, let browsers ask whether it changed, and pack it."""
    response.headers["Content-Security-Policy"] = content_security_policies.MANUAL
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    if request.accept_encodings["gzip"] > 0 and response.status_code == 200:
        response.set_data(gzip.compress(response.get_data(), 5, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.add_etag()
    response.make_conditional(request)
    return response
