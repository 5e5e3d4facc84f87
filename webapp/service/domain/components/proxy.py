"""Sends requests to an account's own app, with its credential, on behalf of a caller (contract "Proxy").

The credential is added here and goes only to the hosts that the app declares; the caller can neither see nor replace
it: it is masked in an address, a header or a text body that repeats it (a redirect, an echo); the app is asked for an
uncompressed response. It is refreshed first if needed; after a 401 the account is checked at once, and the request is
sent again if the credential was renewed.
"""

import io
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, unquote_plus, urlencode

import orjson

from webapp.errors import Forbidden, Invalid, PatchbayError, Refused, UpstreamFailed, UpstreamTimedOut
from webapp.service.components.calls import AccountGrant
from webapp.service.components.masking import MASK, BodyMask, Mask
from webapp.service.domain.accounts import accounts, health, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants
from webapp.service.domain.projects import usage
from webapp.service.outbound.client import MAX_REDIRECTS
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.headers import RESERVED
from webapp.service.outbound.placements import Applied, apply
from webapp.service.outbound.templates import TemplateError
from webapp.service.outbound.transport import Stream, Upload
from webapp.service.outbound.urls import HostRules

DEADLINE_S = 30.0
SIGNED = 10 * 1024 * 1024  # bytes of a body that is read whole, because the credential signs it
REPLAYED = 1024 * 1024  # bytes of a body that is read whole, to be sent once more with a renewed token
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FORM = "application/x-www-form-urlencoded"
_HIDDEN = "***"  # a header and an address can hold it


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """The caller's request. ``target`` is an absolute URL, or is relative to the app's base URL."""

    method: str
    target: str
    params: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Upload | None = None


def send(service: Service, account: Account, request: ProxyRequest) -> Stream:
    """Send ``request`` with ``account``'s credential; return the response with any status, which the caller closes.

    Raises :class:`Invalid` (malformed address), :class:`Forbidden` (not an address of the app), :class:`Refused` (the
    account must be reconnected), :class:`UpstreamFailed`, :class:`UpstreamTimedOut`.
    """
    ends = time.monotonic() + DEADLINE_S
    used = token_refresh.ensure_fresh(service, account)
    request, replayable = _replayable(request)
    answer = _send(service, used, request, ends)
    if answer.status == 401:
        try:
            after = health.after_refusal(service, used)
            if after.dead:
                raise Refused(account_grants.reconnect(service, after, after.error).message)
        except BaseException:
            answer.close()
            raise
        if replayable and after.revision != used.revision and ends - time.monotonic() > 1:
            answer.close()
            if request.body is not None:
                request.body.source.seek(0)
            answer = _send(service, after, request, ends)
    usage.note(service, account.scene, "proxy")
    return answer


def _replayable(request: ProxyRequest) -> tuple[ProxyRequest, bool]:
    """``request`` so that it can be sent twice, and whether that is so: a small body is read first."""
    if request.body is None:
        return request, True
    if request.body.length > REPLAYED:
        return request, False
    body = io.BytesIO(request.body.source.read(request.body.length))
    return replace(request, body=Upload(body, request.body.length)), True


def _send(service: Service, account: Account, request: ProxyRequest, ends: float) -> Stream:
    app, grant = accounts.app_of(service, account), _grant(service, account)
    credential, client = _credential(grant), service.client_for(app)
    url, rules = _absolute(grant, request.target), HostRules.of(*grant.allowed_hosts)
    checked = client.guard.check(url)
    if isinstance(checked, Failure):
        raise Invalid(f"The target cannot be called: {checked.sentence}")
    if not rules.admit(checked):
        raise Forbidden(f"{checked.authority} is not an address of {app.name}, so nothing is sent there.")
    answer = client.stream(
        request.method,
        _with_query(str(checked), request.params, credential),
        headers=_headers(grant, request.headers, credential),
        params=credential.params,
        data=_body(request, credential),
        deadline_s=max(0.0, ends - time.monotonic()),
        max_redirects=MAX_REDIRECTS if request.method in ("GET", "HEAD") and request.body is None else 0,
        allowed_hosts=rules,
        sign=credential.sign,
    )
    if isinstance(answer, Failure):
        raise _error(answer)
    _hide(grant, answer)
    return answer


def _grant(service: Service, account: Account) -> AccountGrant:
    """The grant for a request with ``account``."""
    try:
        return account_grants.of_values(
            accounts.app_of(service, account), account_grants.given_values(service, account)
        )
    except account_grants.AccountUnusable as error:
        raise Refused(error.message) from error


def _credential(grant: AccountGrant) -> Applied:
    try:
        return apply(grant.placements, grant.values)
    except TemplateError as error:
        raise Refused(f"The account is not complete: {error} Reconnect it.") from error


def _absolute(grant: AccountGrant, target: str) -> str:
    if _ABSOLUTE.match(target):
        return target
    if not grant.base_url:
        raise Invalid("The app has no base address, so the target must be a whole one; begin it with https://.")
    return f"{grant.base_url.rstrip('/')}/{target.lstrip('/')}"


def _with_query(url: str, params: Sequence[tuple[str, str]], credential: Applied) -> str:
    """``url`` with ``params`` behind its own, but for those that the credential sets itself."""
    path, _, query = url.partition("?")
    own = [part for part in query.split("&") if part and unquote_plus(part.partition("=")[0]) not in credential.params]
    more = urlencode([(name, value) for name, value in params if name not in credential.params])
    query = "&".join([*own, *([more] if more else [])])
    return f"{path}?{query}" if query else path


def _headers(grant: AccountGrant, own: Mapping[str, str], credential: Applied) -> dict[str, str]:
    """The app's own headers, those of the caller over them, and the credential over both, each name once."""
    merged: dict[str, tuple[str, str]] = {}
    for headers in (grant.headers, own, credential.headers):
        merged.update({name.lower(): (name, value) for name, value in headers.items() if name.lower() not in RESERVED})
    return dict(merged.values())


def _body(request: ProxyRequest, credential: Applied) -> bytes | Upload | None:
    """The caller's body; where the credential belongs into the body or signs it, read as a whole and with it."""
    if not credential.body and (credential.sign is None or request.body is None):
        return request.body
    if credential.sign is not None and request.body and request.body.length > SIGNED:
        raise Invalid("This app takes requests that are signed as a whole; send at most 10 MiB at a time.")
    raw = request.body.source.read(request.body.length) if request.body else b""
    if not credential.body:
        return raw
    kind = next((value for name, value in request.headers.items() if name.lower() == "content-type"), _FORM)
    media = kind.partition(";")[0].strip().lower()
    try:
        if media == _FORM:
            fields = parse_qsl(raw.decode(), keep_blank_values=True)
            kept = [(name, value) for name, value in fields if name not in credential.body]
            return urlencode([*kept, *credential.body.items()]).encode()
        if media == "application/json" and isinstance(values := orjson.loads(raw or b"{}"), dict):
            return orjson.dumps({**values, **credential.body})
    except ValueError as error:
        raise Invalid("The body cannot be read, and this app takes its credential there; check it.") from error
    raise Invalid("This app takes its credential in the body; send a JSON object or a form.")


def _hide(grant: AccountGrant, answer: Stream) -> None:
    mask = Mask.of_account(grant)
    answer.hide(lambda text: mask(text).replace(MASK, _HIDDEN), BodyMask(mask))


def _error(failure: Failure) -> PatchbayError:
    if failure.kind == "refused_by_guard":
        return Forbidden(failure.sentence)
    return (UpstreamTimedOut if failure.kind == "timeout" else UpstreamFailed)(failure.sentence)
