"""Build → Embed: try the Connect Link as one of your users, the code for it, and whether a page of yours can show it.

Each action answers with the page, whose whole state stands in its address (:mod:`.embed_state`).
"""

from collections.abc import Mapping

from flask import Response, abort, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import page as build_page
from webapp.dashboard.build.embed_state import EmbedQuery, keep
from webapp.dashboard.build.embed_view import show, token_state
from webapp.dashboard.client.build.embedding import EmbedClient
from webapp.dashboard.dashboard import viewer
from webapp.dashboard.pages import go
from webapp.errors import Invalid
from webapp.kit.origins import checked_origin

blueprint = build_page.blueprint("embed")

# Where the API's fields stand in the form.
_FIELDS: Mapping[str, str] = {
    "external_user_id": "user",
    "app_id": "app",
    "allowed_origins": "another",
    "success_redirect_uri": "success",
    "error_redirect_uri": "error",
}


@blueprint.get("")
def page() -> Response:
    """The page."""
    return show(EmbedQuery.of_request())


@blueprint.post("/token")
def make_token() -> AnyResponse:
    """Make a token for the user in the form, which the preview shows from then on."""
    query = EmbedQuery.of_form(request.form, EmbedQuery.of_request())
    another = request.form.get("another", "").strip()
    try:
        query = _with(query, another)
        keep(*EmbedClient(viewer().client).make_token(query.token_body()))
    except Invalid as error:
        return show(query, _errors(error), another=another, code=422)
    return go(query.address("preview"))


@blueprint.get("/token")
def token_now() -> str:
    """Whether the token is used by now."""
    return token_state(EmbedQuery.of_request()) or abort(404)


@blueprint.post("/origins")
def change_origins() -> AnyResponse:
    """Add an origin to the form, or take one away."""
    query, form = EmbedQuery.of_form(request.form, EmbedQuery.of_request()), request.form
    if "remove" in form:
        return go(
            query.with_origins([origin for origin in query.listed if origin != form["remove"]]).address("origins")
        )
    another = form.get("another", "").strip()
    try:
        return go(_with(query, another).address("origins"))
    except Invalid as error:
        return show(query, _errors(error), another=another, code=422)


@blueprint.post("/check")
def check() -> Response:
    """Look at a page: can it show the Connect Link?"""
    query, form = EmbedQuery.of_request(), request.form
    url, printed = form.get("url", "").strip(), form.get("printed", "").strip()
    try:
        verdict = EmbedClient(viewer().client).check_page(url, query.listed, printed) or abort(404)
    except Invalid as error:
        return show(query, _errors(error), url=url, code=422)
    return show(query, url=url, verdict=verdict)


def _with(query: EmbedQuery, another: str) -> EmbedQuery:
    """``query`` with one more origin, if there is one. Raises :class:`Invalid`."""
    try:
        return query.with_origins([*query.listed, checked_origin(another)]) if another else query
    except ValueError as error:
        raise Invalid.of("allowed_origins", str(error)) from error


def _errors(error: Invalid) -> Mapping[str, str]:
    """The sentences of ``error``, by the field of the form that each is about."""
    return {_FIELDS.get(detail.field, detail.field): detail.message for detail in error.details} or {"user": str(error)}
