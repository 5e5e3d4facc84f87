"""The HTTP client of a component: relative URLs address the account's app, absolute URLs anything else.

The client builds the request and checks the response: a bad status raises :class:`HttpError` with the provider's own
message, unless the call has ``check=False``. Sending is left to subclasses: :mod:`account_http` where the credential
is, :mod:`brokered_http` in the process of a call.
"""

import json as json_codec
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.kit.sentences import marked
from webapp.service.components.errors import HttpError
from webapp.service.outbound.bodies import at_path, parse_json
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

_MESSAGES = (
    "error.message",
    "message",
    "error_description",
    "error",
    "detail",
    "errors.0.message",
    "errors.0",
    "0.message",  # Salesforce answers with an array of errors
    "title",
)

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HttpResponse(Response):
    """A response, with its body as text and as JSON."""

    @property
    def text(self) -> str:
        """The body as text; bytes that are not UTF-8 are replaced."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """The body as JSON; None for an empty one. Raises :class:`HttpError`."""
        if not self.body.strip():
            return None
        parsed = parse_json(self.body)
        if isinstance(parsed, Failure):
            raise HttpError(parsed.sentence, self.status, self.body)
        return parsed.value


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request of a component. ``url`` may be relative to the app's base URL. ``is_json`` says that ``body`` is
    JSON; ``form`` replaces the body. The response is cut after ``max_bytes``."""

    method: str
    url: str = field(repr=False)
    params: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    is_json: bool = False
    form: Mapping[str, tuple[str, ...]] | None = field(default=None, repr=False)
    auth: tuple[str, str] | None = field(default=None, repr=False)
    max_bytes: int | None = None


class Http:
    """Sends requests for one account, or for none."""

    def get(self, url: str, **options: Any) -> HttpResponse:
        """Send a GET request; the options are those of :meth:`request`."""
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> HttpResponse:
        """Send a POST request."""
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> HttpResponse:
        """Send a PUT request."""
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Any) -> HttpResponse:
        """Send a PATCH request."""
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Any) -> HttpResponse:
        """Send a DELETE request."""
        return self.request("DELETE", url, **options)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        data: bytes | Params | None = None,
        auth: tuple[str, str] | None = None,
        check: bool = True,
        max_bytes: int | None = None,
    ) -> HttpResponse:
        """Send one request and read the response, or its first ``max_bytes``. Raises :class:`HttpError`.

        A ``url`` that begins with ``/`` is relative to the app's base URL. Members of ``params`` and of a form
        (``data``) that are None are left out; a list repeats its name. ``auth`` is the user and password for Basic
        authentication (RFC 7617), if no account gives a credential.
        """
        is_form = isinstance(data, Mapping) and json is None
        request = HttpRequest(
            method,
            url,
            params=tuple((name, text) for name, texts in _texts(params or {}).items() for text in texts),
            headers=headers or {},
            body=json_codec.dumps(json, separators=(",", ":")).encode() if json is not None else _raw(data),
            is_json=json is not None,
            form=_texts(data) if is_form and isinstance(data, Mapping) else None,
            auth=auth,
            max_bytes=max_bytes,
        )
        return _checked(self.exchange(request), check)

    @abstractmethod
    def exchange(self, request: HttpRequest) -> Response | Failure:
        """Send ``request`` and return the response or the failure. Raises :class:`HttpError` if it cannot be sent."""


def _checked(outcome: Response | Failure, check: bool) -> HttpResponse:
    if isinstance(outcome, Failure):
        raise HttpError(outcome.sentence)
    answer = HttpResponse(outcome.status, outcome.headers, outcome.body, outcome.url)
    if check and not answer.ok:
        raise HttpError(refusal(answer), answer.status, answer.body)
    return answer


def refusal(answer: HttpResponse, path: str = "") -> str:
    """A sentence for a bad status, with the provider's message: from ``path``, or else from the usual members."""
    message = _provider_message(answer.body, path)
    if message:
        return marked(f"The app answered with status {answer.status}: {message}")
    return f"The app answered with status {answer.status}."


def _provider_message(body: bytes, path: str) -> str:
    parsed = parse_json(body) if body.strip() else None
    if parsed is None or isinstance(parsed, Failure):
        return ""
    candidates = (at_path(parsed.value, candidate) for candidate in ((path,) if path else _MESSAGES))
    message = next((text.strip() for text in candidates if isinstance(text, str) and text.strip()), "")
    detail = at_path(parsed.value, "errors.0.message")
    if not path and isinstance(detail, str) and detail.strip() not in message:
        message = f"{message}: {detail.strip()}"  # such as "Validation Failed", which says too little by itself
    return message[:500]


def _raw(data: bytes | Params | None) -> bytes | None:
    return None if isinstance(data, Mapping) else data


def _texts(fields: Params) -> dict[str, tuple[str, ...]]:
    return {name: tuple(map(_text, _values(values))) for name, values in fields.items()}


def _values(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
