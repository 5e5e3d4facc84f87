"""Sends the HTTP requests of a component from the process that made the call, which holds the account's credential.

The credential and the app's own headers are sent only to the hosts that the app declares. Requests to other hosts pass
the same guard and carry neither.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from webapp.service.components.calls import AccountGrant
from webapp.service.components.errors import HttpError
from webapp.service.components.http import Http, HttpRequest
from webapp.service.outbound.client import MAX_BYTES, MAX_REDIRECTS, OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.placements import Applied, apply
from webapp.service.outbound.responses import Response
from webapp.service.outbound.templates import TemplateError
from webapp.service.outbound.transport import Watch
from webapp.service.outbound.urls import HostRules


class AccountHttp(Http):
    """Sends requests for one account, or for none. ``left_s`` returns how many seconds the call has left."""

    def __init__(
        self,
        client: OutboundClient,
        grant: AccountGrant | None,
        left_s: Callable[[], float],
        note: Callable[[str, bool], None] = lambda method, refused: None,
    ) -> None:
        """``note`` is called with the method of each request and whether the provider refused the credential."""
        self._client, self._grant, self._left_s, self._note = client, grant or AccountGrant(), left_s, note
        self._lane = lane_of(self._grant)

    def exchange(self, request: HttpRequest, watch: Watch | None = None) -> Response | Failure:
        """Send ``request`` with the account's credential and return the provider's response unchanged.

        ``watch`` is given the body as it arrives, and ends the reading once it has enough.
        """
        whole = self.absolute(request.url)
        ours = self._hosts_of(whole)
        credential = self._credential() if ours else Applied()
        content, content_type = _body(request, credential.body)
        headers = {**(self._grant.headers if ours else {}), **request.headers, **credential.headers}
        if content_type and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = content_type
        outcome = self._client.request(
            request.method,
            _with_query(whole, request.params),
            headers=headers,
            params=credential.params,
            data=content,
            auth=None if credential.headers or credential.sign else request.auth,
            deadline_s=max(0.1, self._left_s()),
            max_redirects=MAX_REDIRECTS if request.method in ("GET", "HEAD") else 0,
            allowed_hosts=ours,
            max_bytes=MAX_BYTES if request.max_bytes is None else request.max_bytes,
            cut=request.max_bytes is not None,
            sign=credential.sign,
            lane=self._lane,
            watch=watch,
        )
        self._note(request.method, ours is not None and self._refused(outcome))
        return outcome

    @property
    def lane(self) -> str:
        """The key of its credential, which no other one has; "" without a credential."""
        return self._lane

    def absolute(self, url: str) -> str:
        """Return ``url`` as an absolute URL.

        Raises :class:`HttpError` for a relative one if the account has no base URL.
        """
        if "://" in url:
            return url
        if not self._grant.base_url:
            raise HttpError(f"{url} is not a whole address, and the account gives none. Begin it with https://.")
        return f"{self._grant.base_url.rstrip('/')}/{url.lstrip('/')}"

    def _refused(self, outcome: Response | Failure) -> bool:
        return isinstance(outcome, Response) and self._grant.refusals.refuse_use(outcome)

    def _hosts_of(self, url: str) -> HostRules | None:
        """The hosts to which redirects of a request may lead; None for a request without the credential."""
        rules = HostRules.of(*self._grant.allowed_hosts)
        checked = self._client.guard.check(url)
        return rules if not isinstance(checked, Failure) and rules.admit(checked) else None

    def _credential(self) -> Applied:
        try:
            return apply(self._grant.placements, self._grant.values)
        except TemplateError as error:
            raise HttpError(str(error)) from None


class RefusalReporter:
    """Reports to ``send`` that a credential was refused, and whether an earlier request may have changed anything."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send, self._changed = send, False

    def note(self, prop: str | None, method: str, refused: bool) -> None:
        """Record the response to a request of ``method`` made with the account of the app prop ``prop``, or with
        none."""
        if refused and prop is not None:
            self._send({"refused": prop, "repeatable": not self._changed})
        elif method not in ("GET", "HEAD"):
            self._changed = True


def lane_of(grant: AccountGrant) -> str:
    """The key under which connections are pooled, so that two credentials never share one; "" without a credential."""
    if not grant.values:
        return ""
    return hashlib.sha256(repr(sorted(grant.values.items())).encode(errors="replace")).hexdigest()


def _body(request: HttpRequest, credential: Mapping[str, str]) -> tuple[bytes | None, str | None]:
    """The body, including the credential if the app expects it there, and its media type."""
    if request.form is not None:
        fields = {**request.form, **{name: (value,) for name, value in credential.items()}}
        pairs = [(name, text) for name, texts in fields.items() for text in texts]
        return urlencode(pairs).encode("ascii"), "application/x-www-form-urlencoded"
    if not request.is_json:
        return request.body, None
    content = json.loads(request.body or b"null") if credential else None
    if not isinstance(content, dict):
        return request.body, "application/json"
    return json.dumps({**content, **credential}, separators=(",", ":")).encode(), "application/json"


def _with_query(url: str, params: tuple[tuple[str, str], ...]) -> str:
    query = urlencode(params)
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url
