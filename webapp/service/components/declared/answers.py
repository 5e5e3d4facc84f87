"""What an app answered to a request of a form: JSON, or XML looked at as if it were."""

from typing import Any

from webapp.service.components.declared.request_form import Listing, Request
from webapp.service.components.errors import HttpError
from webapp.service.components.http import HttpResponse
from webapp.service.outbound.outcomes import Failure, parse_xml


def read(request: Request, answer: HttpResponse) -> Any:
    """What an answer to ``request`` holds. Raises :class:`HttpError`."""
    if request.answer == "json" or not answer.body.strip():
        return answer.json()
    parsed = parse_xml(answer.body, request.items.split(".")[-1:] if isinstance(request, Listing) else ())
    if isinstance(parsed, Failure):
        raise HttpError(parsed.sentence, answer.status, answer.body)
    return parsed.value


def quietly(request: Request, answer: HttpResponse) -> Any:
    """What an answer holds; None where it cannot be read, such as the page of a gateway."""
    try:
        return read(request, answer)
    except HttpError:
        return None
