"""Which of our errors an answer is that refuses a call (contract "Errors" and "Rate limits")."""

import time
from collections.abc import Mapping
from typing import Any

import orjson

from webapp import errors
from webapp.dashboard.client.remote import Answer
from webapp.errors import Detail, PatchbayError, Throttled, about
from webapp.kit.translation import DEFAULT, language, translated

_BY_STATUS: Mapping[int, type[PatchbayError]] = {
    401: errors.Unauthorized, 403: errors.Forbidden, 404: errors.NotFound, 405: errors.NotFound, 409: errors.Conflict,
    422: errors.Refused,
}  # fmt: skip


def of(answer: Answer) -> PatchbayError | None:
    """The error, with the service's own sentence; ``None`` where the service failed instead of refusing."""
    status = answer.status
    if status == 429:
        return _throttled(answer)
    body = _body(answer)
    sentence = body.get("error") if isinstance(body.get("error"), str) else None
    if status == 400:
        return errors.Invalid(sentence, _details(body.get("details")))
    return _BY_STATUS[status](sentence) if status in _BY_STATUS else None


def in_language(error: PatchbayError) -> PatchbayError:
    """``error`` with its sentences in the language that is spoken now."""
    if language() == DEFAULT:
        return error
    sentence = translated(error.message)
    if isinstance(error, errors.Invalid):
        details = [Detail(detail.field, translated(detail.message)) for detail in error.details]
        for before, detail in zip(error.details, details, strict=True):
            if error.message == about(before.field, before.message):
                sentence = f"{detail.field}: {detail.message}"
        error.details = tuple(details)
    error.args = (sentence,)
    return error


def _body(answer: Answer) -> Mapping[str, Any]:
    try:
        body = orjson.loads(answer.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _details(details: Any) -> list[Detail]:
    """What is wrong with which field; what cannot be understood is left out."""
    objects = [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []
    return [Detail(str(detail.get("field", "")), str(detail["message"])) for detail in objects if detail.get("message")]


def _throttled(answer: Answer) -> Throttled:
    def header(name: str, default: int) -> int:
        value = answer.headers.get(name, "")
        return int(value) if value.isascii() and value.isdigit() else default

    wait = header("retry-after", 60)
    return Throttled(header("x-ratelimit-limit", 0), header("x-ratelimit-reset", int(time.time()) + wait), wait)
