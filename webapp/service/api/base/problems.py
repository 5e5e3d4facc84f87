"""Errors as JSON (contract "Errors"): the one mapping from the error tree to statuses, bodies and headers."""

import logging
from typing import Any

from flask import Response
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from webapp.errors import Detail, Invalid, MethodNotAllowed, PatchbayError, Throttled, TooLarge, Unavailable
from webapp.kit.cursors import BadCursor
from webapp.service.api.base.call import answer

RETRY_AFTER_S = 1
log = logging.getLogger("patchbay.api")


class OAuthProblem(PatchbayError):
    """An error of the token endpoint (RFC 6749 section 5.2)."""

    def __init__(self, code: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.code, self.http_status = code, status


class NoSuchMethod(MethodNotAllowed):
    """This address does not answer that method; ``allowed`` are the ones that it does."""

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This address answers only {allowed}.")
        self.allowed = allowed


def answer_error(error: Exception, request_id: str) -> Response:
    """The answer to ``error``. An unexpected error is logged, and answered without detail."""
    match error:
        case OAuthProblem():
            return _oauth(error)
        case Throttled():
            return _throttled(error)
        case PatchbayError():
            return _known(error)
        case BadCursor():
            return _known(Invalid(str(error), [Detail("after or before", str(error))]))
        case RequestEntityTooLarge():
            return _known(TooLarge())
        case HTTPException() if error.code is not None and error.code < 500:
            return answer({"error": error.description or error.name}, error.code)
    log.error("Request %s failed.", request_id, exc_info=error)
    sentence = "Something went wrong on our side. Try again; if it stays, give this request id to the operator."
    return answer({"error": sentence, "request_id": request_id}, 500)


def _known(error: PatchbayError) -> Response:
    body: dict[str, Any] = {"error": error.message}
    if isinstance(error, Invalid) and error.details:
        body["details"] = [{"field": detail.field, "message": detail.message} for detail in error.details]
    response = answer(body, error.status)
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, Unavailable):
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    if isinstance(error, NoSuchMethod):
        response.headers["Allow"] = error.allowed
    return response


def _oauth(error: OAuthProblem) -> Response:
    response = answer({"error": error.code, "error_description": error.message}, error.http_status)
    if error.http_status == 401:
        response.headers["WWW-Authenticate"] = 'Basic realm="token"'
    return response


def _throttled(error: Throttled) -> Response:
    response = answer({"error": error.message}, error.status)
    response.headers["Retry-After"] = str(error.retry_after)
    response.headers["X-RateLimit-Limit"] = str(error.limit)
    response.headers["X-RateLimit-Remaining"] = "0"
    response.headers["X-RateLimit-Reset"] = str(error.reset_at)
    return response
