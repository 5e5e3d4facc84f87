"""The HTTP client of a component: an account's app by relative addresses, anything else through the same guard.

The credential and the app's own headers go to the hosts that the app declares, and nowhere else. A bad answer is
raised as an :class:`HttpError` with the provider's own message, unless ``check=False`` asks for the answer as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from webapp.kit.sentences import marked
from webapp.service.components.calls import AccountGrant
from webapp.service.components.errors import HttpError
from webapp.service.outbound.client import MAX_BYTES, OutboundClient
from webapp.service.outbound.outcomes import Failure, Response, at_path, parse_json
from webapp.service.outbound.templates import Applied, TemplateError, apply
from webapp.service.outbound.urls import HostRules

HOPS = 3
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
_DETAIL = "errors.0.message"

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


class Http:
    """Sends requests for one account, or for none. ``left_s`` tells how many seconds the call has left."""

    def __init__(
        self,
        client: OutboundClient,
        grant: AccountGrant | None,
        left_s: Callable[[], float],
        note: Callable[[str, bool], None] = lambda method, refused: None,
    ) -> None:
        """``note`` is told the method of each request, and whether its answer refused the credential."""
        self._client, self._grant, self._left_s, self._note = client, grant or AccountGrant(), left_s, note

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
        whole = self.absolute(url)
        ours = self._hosts_of(whole)
        credential = self._credential() if ours else Applied()
        sent = {**(self._grant.headers if ours else {}), **(headers or {}), **credential.headers}
        if isinstance(data, Mapping) and not any(name.lower() == "content-type" for name in sent):
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        outcome = self._client.request(
            method,
            _with_query(whole, params or {}),
            headers=sent,
            params=credential.params,
            json={**json, **credential.body} if isinstance(json, Mapping) else json,
            data=urlencode(_pairs({**data, **credential.body})).encode("ascii") if isinstance(data, Mapping) else data,
            auth=None if ours and credential.headers else auth,
            deadline_s=max(0.1, self._left_s()),
            allow_redirects=HOPS if method in ("GET", "HEAD") else 0,
            allowed_hosts=ours,
            max_bytes=MAX_BYTES if max_bytes is None else max_bytes,
            cut=max_bytes is not None,
        )
        self._note(method, ours is not None and self._refused(outcome))
        return _judged(outcome, check)

    def absolute(self, url: str) -> str:
        """``url`` as a whole address. Raises :class:`HttpError` for a relative one where no account gives the rest."""
        if "://" in url:
            return url
        if not self._grant.base_url:
            raise HttpError(f"{url} is not a whole address, and the account gives none. Begin it with https://.")
        return f"{self._grant.base_url.rstrip('/')}/{url.lstrip('/')}"

    def _refused(self, outcome: Response | Failure) -> bool:
        return isinstance(outcome, Response) and self._grant.refusals.refuse_use(outcome)

    def _hosts_of(self, url: str) -> HostRules | None:
        """The hosts within which a request with the credential stays; None for a request that goes without."""
        rules = HostRules.of(*self._grant.allowed_hosts)
        checked = self._client.guard.check(url)
        return rules if not isinstance(checked, Failure) and rules.admit(checked) else None

    def _credential(self) -> Applied:
        try:
            return apply(self._grant.placements, self._grant.values)
        except TemplateError as error:
            raise HttpError(str(error)) from None


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
    detail = at_path(parsed.value, _DETAIL)
    if not path and isinstance(detail, str) and detail.strip() not in message:
        message = f"{message}: {detail.strip()}"  # such as "Validation Failed", which alone helps nobody
    return message[:500]


def _with_query(url: str, params: Params) -> str:
    query = urlencode(_pairs(params))
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def _pairs(fields: Params) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, values in fields.items() for value in _values(values)]


def _values(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
