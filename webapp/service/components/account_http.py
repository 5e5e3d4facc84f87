"""Sends the requests of a component where its account's credential is: by whoever asked for the call.

The credential and the app's own headers go to the hosts that the app declares, and nowhere else. Anything else goes
through the same guard without them.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from webapp.service.components.calls import AccountGrant
from webapp.service.components.errors import HttpError
from webapp.service.components.http import Http, HttpRequest
from webapp.service.outbound.client import MAX_BYTES, OutboundClient
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.templates import Applied, TemplateError, apply
from webapp.service.outbound.urls import HostRules

HOPS = 3


class AccountHttp(Http):
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
        self._lane = lane_of(self._grant)

    def exchange(self, request: HttpRequest) -> Response | Failure:
        """As in the base class; the answer is the provider's own."""
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
            allow_redirects=HOPS if request.method in ("GET", "HEAD") else 0,
            allowed_hosts=ours,
            max_bytes=MAX_BYTES if request.max_bytes is None else request.max_bytes,
            cut=request.max_bytes is not None,
            sign=credential.sign,
            lane=self._lane,
        )
        self._note(request.method, ours is not None and self._refused(outcome))
        return outcome

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


class CredentialWatch:
    """Tells ``send`` when a credential was refused, and whether anything may have been changed before."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send, self._changed = send, False

    def note(self, prop: str | None, method: str, refused: bool) -> None:
        """A request of ``method`` was answered, made with the account of the app prop ``prop`` or with none."""
        if refused and prop is not None:
            self._send({"refused": prop, "repeatable": not self._changed})
        elif method not in ("GET", "HEAD"):
            self._changed = True


def lane_of(grant: AccountGrant) -> str:
    """What the connections of one account are kept under: they are shared with no other credential; "" for none."""
    if not grant.values:
        return ""
    return hashlib.sha256(repr(sorted(grant.values.items())).encode(errors="replace")).hexdigest()


def _body(request: HttpRequest, credential: Mapping[str, str]) -> tuple[bytes | None, str | None]:
    """The body with the credential in it, where the app wants it there, and its media type."""
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
