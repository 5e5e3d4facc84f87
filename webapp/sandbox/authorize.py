"""The OAuth endpoints: consent page, token, revocation and metadata. The rules stand in ``oauth``."""

import re
from typing import Any, cast

from authlib.common.urls import add_params_to_uri
from authlib.oauth2 import OAuth2Error
from flask import Blueprint, Response, abort, current_app, g, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue

from webapp.sandbox.clients import AUTH_METHODS, GRANT_TYPES, SCOPES, in_words
from webapp.sandbox.granted import BEHAVIOURS
from webapp.sandbox.oauth import Consent, token_response
from webapp.sandbox.people import PEOPLE, find_person
from webapp.sandbox.state import current

SERVER = "sandbox_oauth"
CARRIED = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
# RFC 6749 appendix A and section 4.1.2.1: what may stand in these parameters, and be repeated in an error.
_SAFE = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]*")

pages = Blueprint("oauth_pages", __name__)
endpoints = Blueprint("oauth_endpoints", __name__)


@pages.get("/oauth/authorize")
def ask() -> ResponseReturnValue:
    """The consent page, or the reason why there is none."""
    authorization = _validated()
    if not isinstance(authorization, dict):
        return authorization
    return _consent_page(authorization)


@pages.post("/oauth/authorize")
def decide() -> ResponseReturnValue:
    """Send the person back with a code, or with ``access_denied``."""
    authorization = _validated()
    if not isinstance(authorization, dict):
        return authorization
    person = find_person(request.form.get("person", ""))
    behaviour = BEHAVIOURS.get(request.form.get("behaviour", "normal"))
    allowed = request.form.get("decision") == "allow"
    if allowed and (person is None or behaviour is None):
        return _consent_page(authorization, "Pick one of the people and one of the behaviours, then press Allow."), 422
    consent = Consent(person, behaviour) if allowed and person and behaviour else None
    response: Response = _server().create_authorization_response(grant_user=consent, grant=authorization["grant"])
    if response.status_code == 302:
        response.status_code = 303  # RFC 9700 section 4.12: the browser must not post the form on
    return response


@endpoints.post("/oauth/token")
def token() -> ResponseReturnValue:
    """Exchange a code or a refresh token (RFC 6749 section 3.2)."""
    _refuse_unreadable_credentials()
    return token_response(_server())


@endpoints.post("/oauth/revoke")
def revoke() -> ResponseReturnValue:
    """End the grant of a token (RFC 7009)."""
    _refuse_unreadable_credentials()
    return cast(Response, _server().create_endpoint_response("revocation"))


@endpoints.get("/.well-known/oauth-authorization-server")
def metadata() -> ResponseReturnValue:
    """What this server can do (RFC 8414 section 2, RFC 9207 section 3)."""
    url = current().public_url
    return jsonify(
        issuer=url,
        authorization_endpoint=f"{url}/oauth/authorize",
        token_endpoint=f"{url}/oauth/token",
        revocation_endpoint=f"{url}/oauth/revoke",
        scopes_supported=list(SCOPES),
        response_types_supported=["code"],
        response_modes_supported=["query"],
        grant_types_supported=list(GRANT_TYPES),
        token_endpoint_auth_methods_supported=list(AUTH_METHODS),
        revocation_endpoint_auth_methods_supported=list(AUTH_METHODS),
        code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True,
        service_documentation=f"{url}/",
    )


def _validated() -> dict[str, Any] | ResponseReturnValue:
    """The checked request as ``{"grant", "scope"}``, or the answer that refuses it.

    Only an address that is registered, character for character, is ever redirected to.
    """
    if any(_SAFE.fullmatch(request.values.get(name, "")) is None for name in CARRIED if name != "state"):
        return _refusal("The request holds characters that OAuth does not allow."), 400
    try:
        grant = _server().get_consent_grant()
    except OAuth2Error as error:
        return _refuse(error)
    return {"grant": grant, "scope": grant.request.scope, "redirect_uri": grant.redirect_uri}


def _refuse(error: OAuth2Error) -> ResponseReturnValue:
    if not error.redirect_uri:
        return _refusal(error.description or "The request is not valid."), 400
    told = [(str(name), str(value)) for name, value in error.get_body()]
    location = add_params_to_uri(error.redirect_uri, [*told, ("iss", current().public_url)])
    return redirect(location, 303)


def _refusal(why: str) -> str:
    return render_template("sandbox/refused.html", title="This link does not work", why=why)


def _consent_page(authorization: dict[str, Any], problem: str | None = None) -> str:
    # Chromium holds form-action against every redirect that follows a form, and the application's own callback
    # may redirect further (a success address on another host), so this one page may not name a single origin.
    g.form_action = "'self' http: https:"
    return render_template(
        "sandbox/consent.html",
        people=PEOPLE,
        client_name=current().client.name,
        behaviours=BEHAVIOURS.values(),
        grants=in_words(authorization["scope"]),
        returns_to=authorization["redirect_uri"],
        carried={name: request.values[name] for name in CARRIED if name in request.values},
        problem=problem,
    )


def _refuse_unreadable_credentials() -> None:
    """Authlib splits and decodes the header without a net; a broken one must not become a 500."""
    header = request.headers.get("Authorization")
    if header is None or (request.authorization is not None and len(header.split(None, 1)) == 2):
        return
    response = jsonify(error="invalid_client", error_description="The Authorization header cannot be read.")
    response.status_code = 401
    response.headers["WWW-Authenticate"] = 'Basic realm="Sandbox Tasks"'
    abort(response)


def _server() -> Any:
    """Authlib's server; Any, for its stubs lag behind what it takes and gives."""
    return current_app.extensions[SERVER]
