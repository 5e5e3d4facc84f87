"""``POST /mcp/oauth/token`` and ``/mcp/oauth/revoke``: what an agent does with its code and tokens (RFC 6749, 7009).

An agent has no secret, so that its id alone names it. Bodies are forms.
"""

from collections.abc import Mapping
from typing import Any

from flask import Request

from webapp.errors import Forbidden, Unauthorized
from webapp.people.agents import tokens
from webapp.people.agents.tokens import TokenPair
from webapp.service.api.base.call import holds_nul
from webapp.service.api.base.problems import OAuthProblem
from webapp.service.api.sign_in import metadata
from webapp.service.domain.agents import sessions, signed_in
from webapp.service.domain.base.service import Service

MAX_BODY_BYTES = 16 * 1024


def exchange(service: Service, request: Request) -> dict[str, Any]:
    """Tokens for a code or a refresh token. Raises :class:`OAuthProblem`."""
    form = _form(request)
    grant_type = _needed(form, "grant_type")
    if form.get("resource") and form["resource"] not in metadata.resources(service):
        raise OAuthProblem("invalid_target", "These tokens are for another resource.")
    if grant_type == "authorization_code":
        pair = tokens.exchange_code(
            service.store,
            service.clock(),
            code=_needed(form, "code"),
            client_id=_needed(form, "client_id"),
            redirect_uri=form.get("redirect_uri"),
            verifier=_needed(form, "code_verifier"),
        )
    elif grant_type == "refresh_token":
        token, client_id = _needed(form, "refresh_token"), _needed(form, "client_id")
        pair = tokens.exchange_refresh(service.store, service.clock(), token=token, client_id=client_id)
    else:
        raise OAuthProblem("unsupported_grant_type", "Use authorization_code or refresh_token.")
    return _answer(pair if pair and _come_in(service, pair, form["client_id"]) else None)


def revoke(service: Service, request: Request) -> None:
    """End what a token stands for; one that is not known is as good as ended. Raises :class:`OAuthProblem`."""
    form = _form(request)
    token, client_id = _needed(form, "token"), _needed(form, "client_id")
    tokens.revoke(service.store, service.clock(), token=token, client_id=client_id)


def _come_in(service: Service, pair: TokenPair, client_id: str) -> bool:
    """Show the agent to its person from now on, before its first call; whether the person may still sign in.

    Raises :class:`OAuthProblem` where no more agents may come in.
    """
    try:
        agent = signed_in.recognise(service, pair.access)
        sessions.enter(service, agent.scene, agent.external_id, agent.entry, agent.name)
    except (Forbidden, Unauthorized) as error:
        tokens.revoke(service.store, service.clock(), token=pair.access, client_id=client_id)
        if isinstance(error, Unauthorized):
            return False
        raise OAuthProblem("access_denied", error.message) from error
    return True


def _answer(pair: TokenPair | None) -> dict[str, Any]:
    if pair is None:
        raise OAuthProblem("invalid_grant", "This does not work, or no longer; let the person sign in again.")
    return {
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": pair.expires_in,
        "refresh_token": pair.refresh,
        "scope": metadata.SCOPE,
    }


def _form(request: Request) -> Mapping[str, str]:
    """The fields of the body, each at most once; one that is empty is as good as absent."""
    if request.mimetype != "application/x-www-form-urlencoded":
        raise _invalid("Send the body as application/x-www-form-urlencoded.")
    request.max_content_length = MAX_BODY_BYTES
    fields = request.form.to_dict(flat=False)
    if twice := next((name for name, values in fields.items() if len(values) > 1 and name != "resource"), None):
        raise _invalid(f"{twice[:100]} is there more than once.")
    form = {name: values[0] for name, values in fields.items() if values[0]}
    if holds_nul(form):
        raise _invalid("The body holds a NUL character; leave it out.")
    return form


def _needed(form: Mapping[str, str], name: str) -> str:
    if name not in form:
        raise _invalid(f"{name} is missing.")
    return form[name]


def _invalid(description: str) -> OAuthProblem:
    return OAuthProblem("invalid_request", description)
