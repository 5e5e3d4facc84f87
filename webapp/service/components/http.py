"""The HTTP client of a component: an account's app by relative addresses, anything else by whole ones.

It makes a request of what a component says and judges the answer: a bad one is raised as an :class:`HttpError` with the
provider's own message, unless ``check=False`` asks for it as it is. Who sends is another's matter: ``account_http``
where the credential is, ``brokered_http`` in the process of a call.
"""

import json as json_codec
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.kit.sentences import marked
from webapp.service.components.errors import HttpError
from webapp.service.outbound.outcomes import Failure, Response, at_path, parse_json

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
    """An answer, with its body as text and as JSON."""

    @property
    def text(self) -> str:
        """The body as text; what is not UTF-8 is replaced."""
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
    """One request as a component asks for it. ``url`` may be relative to the app. A ``body`` is JSON where ``is_json``;
    a ``form`` stands in its place. ``max_bytes`` cuts the answer."""

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
        """GET; takes the options of :meth:`request`, as its neighbours do."""
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> HttpResponse:
        """POST."""
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> HttpResponse:
        """PUT."""
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Any) -> HttpResponse:
        """PATCH."""
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Any) -> HttpResponse:
        """DELETE."""
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
        """Send one request and read the whole answer, or its first ``max_bytes``. Raises :class:`HttpError`.

        ``url`` may begin with ``/``: it then follows the app's base URL. Members of ``params`` and of a form
        (``data``) that are None are left out; a list is sent as one name several times. ``auth`` is user and
        password for Basic, where no account gives a credential.
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
        return _judged(self.exchange(request), check)

    @abstractmethod
    def exchange(self, request: HttpRequest) -> Response | Failure:
        """Send ``request`` and give back what came of it. Raises :class:`HttpError` for one that cannot be sent."""


def _judged(outcome: Response | Failure, check: bool) -> HttpResponse:
    if isinstance(outcome, Failure):
        raise HttpError(outcome.sentence)
    answer = HttpResponse(outcome.status, outcome.headers, outcome.body, outcome.url)
    if check and not answer.ok:
        raise HttpError(refusal(answer), answer.status, answer.body)
    return answer


def refusal(answer: HttpResponse, path: str = "") -> str:
    """The sentence for an answer that refuses, with the provider's message: at ``path``, else where it usually is."""
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
        message = f"{message}: {detail.strip()}"  # such as "Validation Failed", which alone helps nobody
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
