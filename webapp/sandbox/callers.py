"""Authentication of the JSON API: a bearer token, the header ``X-Api-Key``, or HTTP Basic with account id and key.

Unknown credentials get 401, a disabled key or a missing scope 403 (RFC 6750 section 3.1). Keys have every scope. The
behaviour of a grant may delay the response or replace it with 503.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec

from authlib.integrations.flask_oauth2 import ResourceProtector
from authlib.integrations.flask_oauth2.requests import FlaskJsonRequest
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6750 import BearerTokenValidator
from flask import Response, abort, jsonify, request
from flask.typing import ResponseReturnValue

from webapp.sandbox.clients import SCOPES
from webapp.sandbox.grants import NORMAL, Behaviour, Token
from webapp.sandbox.oauth import delay_if_slow
from webapp.sandbox.people import Key, Person
from webapp.sandbox.state import current

P = ParamSpec("P")
REALM = 'realm="Sandbox Tasks"'


@dataclass(frozen=True, slots=True)
class Caller:
    """The person behind a request, with the scopes of their grant or key."""

    person: Person
    scopes: frozenset[str]
    behaviour: Behaviour = NORMAL
    grant_id: str | None = None


def needs(
    scope: str,
) -> Callable[[Callable[Concatenate[Caller, P], ResponseReturnValue]], Callable[P, ResponseReturnValue]]:
    """Decorate a view that requires ``scope``; it gets the :class:`Caller` as its first argument."""

    def decorate(view: Callable[Concatenate[Caller, P], ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
        @functools.wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
            caller = _authenticate()
            if scope not in caller.scopes:
                challenge = f'Bearer {REALM}, error="insufficient_scope", scope="{scope}"'
                abort(problem(403, "insufficient_scope", f"This access does not include {scope}.", challenge))
            delay_if_slow(caller.behaviour)
            if caller.behaviour.trouble:
                abort(problem(503, "unavailable", "Sandbox Tasks is having trouble. Try again later."))
            return view(caller, *args, **kwargs)

        return guarded

    return decorate


def problem(status: int, error: str, message: str, challenge: str | None = None, **more: object) -> Response:
    """The response of every API error: ``error`` for programs, ``message`` for people."""
    response = jsonify(error=error, message=message, **more)
    response.status_code = status
    if challenge is not None:
        response.headers["WWW-Authenticate"] = challenge
    return response


def _authenticate() -> Caller:
    key = request.headers.get("X-Api-Key")
    if key is not None:
        return _of_key(current().keys.by_key(key), None)
    basic = request.authorization
    if basic is not None and basic.type == "basic":
        account_key = current().keys.by_account(basic.username or "", basic.password or "")
        return _of_key(account_key, f"Basic {REALM}")
    return _of_token()


def _of_key(key: Key | None, challenge: str | None) -> Caller:
    if key is None:
        abort(problem(401, "invalid_key", "There is no such key. Copy one from the Keys page.", challenge))
    if key.disabled:
        abort(problem(403, "key_disabled", "This key was switched off. Use another from the Keys page."))
    return Caller(key.person, frozenset(SCOPES))


def _of_token() -> Caller:
    try:
        token: Token = _protector.validate_request(scopes=[], request=FlaskJsonRequest(request))
    except OAuth2Error as error:
        if "Authorization" not in request.headers:
            abort(problem(401, "unauthorized", "Send a bearer token or a key.", f"Bearer {REALM}"))
        challenge = f'Bearer {REALM}, error="invalid_token"'
        abort(problem(401, error.error or "invalid_token", "This token is unknown, expired or revoked.", challenge))
    grant = token.grant
    return Caller(grant.person, frozenset(token.scope.split()), grant.behaviour, grant.id)


class _Validator(BearerTokenValidator):
    """Looks up bearer tokens; Authlib checks whether they are expired or revoked (RFC 6750)."""

    def authenticate_token(self, token_string: str) -> Token | None:
        token = current().grants.find_access(token_string)
        return token if token and token.check_client(current().client) else None


_protector: Any = ResourceProtector()  # its stubs leave the methods untyped
_protector.register_token_validator(_Validator())
