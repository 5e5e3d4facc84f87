"""The API as tests have it: every answer that succeeds is held to the model that its operation declares.

That is so whoever asks: a test's own client, one in another thread, or a session of requests.
"""

from typing import Any

from flask import Flask, Response, request

from tests.service.api.reference.answers import misfits
from webapp.service.api.base.addresses import collapse_slashes
from webapp.service.api.base.models import NoContent, RawContent
from webapp.service.api.table import OPERATIONS
from webapp.service.api.wiring import NAME, register
from webapp.service.domain.base.service import Service

ANSWERS = {f"{NAME}.{one.name}": one.answer for one in OPERATIONS if not isinstance(one.answer, NoContent | RawContent)}


class Misfit(AssertionError):
    """An answer is not what its operation declares."""


class Application(Flask):
    """The API over ``service``. Whoever asks gets a :class:`Misfit` in place of an answer that is not as declared."""

    def __init__(self, service: Service) -> None:
        super().__init__("api_tests")
        register(self, service)
        self.wsgi_app = collapse_slashes(self.wsgi_app)  # type: ignore[method-assign, assignment]
        self.after_request(_held)

    def handle_exception(self, error: Exception) -> Any:
        """What answers ``error``, which is no :class:`Misfit`."""
        if isinstance(error, Misfit):
            raise error
        return super().handle_exception(error)


def _held(response: Response) -> Response:
    model = ANSWERS.get(request.endpoint or "") if response.status_code == 200 else None
    if model and (problems := list(misfits(model, response.get_data()))):
        raise Misfit(f"{request.method} {request.path} declares another answer: {problems}")
    return response
