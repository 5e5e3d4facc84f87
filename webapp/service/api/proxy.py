"""The proxy sends any request to the app of an account, with the account's credential (contract "Proxy").

The app's response is passed on while it arrives. Headers that would let it act as a page of our origin are removed
(cookies, policies, sign-in challenges), and it is sandboxed, so that nothing in it runs here.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urljoin

from flask import Request, Response
from pydantic import Field

from webapp import content_security_policies
from webapp.errors import Invalid, NotFound
from webapp.service.api.base.call import Call
from webapp.service.api.base.models import ExternalUserId, Query, RawContent
from webapp.service.api.base.operations import (
    OWNER,
    PROVIDER_ERRORS,
    Example,
    Group,
    Method,
    Operations,
    PathParameter,
)
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import proxy
from webapp.service.domain.components.proxy import ProxyRequest
from webapp.service.domain.projects import external_users
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.transport import Stream, Upload
from webapp.service.outbound.urls import parse_url

PREFIX = "x-pd-proxy-"
OURS = ("external_user_id", "account_id")
_ALPHABET = re.compile(r"[A-Za-z0-9_-]+")
# Not passed on: what frames a message (RFC 9110 section 7.6.1), what speaks for an origin, which here is ours, and what
# a reverse proxy before us would obey: to serve one of its own files, say.
_WITHHELD = re.compile(
    "connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*"
    "|set-cookie2?|www-authenticate|access-control-.*|cross-origin-.*|origin-agent-cluster"
    "|content-security-policy.*|x-frame-options|x-content-type-options|permissions-policy|referrer-policy"
    "|strict-transport-security|public-key-pins.*|expect-ct|alt-svc|nel|report-to|reporting-endpoints"
    "|clear-site-data|service-worker-allowed|sourcemap|x-sourcemap|refresh|x-ratelimit-.*|x-request-id|cache-control"
    "|set-login|accept-ch|critical-ch|origin-trial|speculation-rules|document-policy|activate-storage-access"
    "|x-accel-.*|x-sendfile.*|x-lighttpd-.*|x-litespeed-.*|x-reproxy-.*|surrogate-.*|cdn-.*|edge-control|server-timing"
)
_CLOSED = {
    "Content-Security-Policy": content_security_policies.OF_OTHERS,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


operations = Operations(
    Group("Proxy", "Any request to an account's app, with the account's credential put in here."),
    PathParameter(
        "url_64",
        "The target in URL-safe or standard base64, padded or not: a whole address, or one below the app's own.",
        "L2FwaS9wcm9qZWN0cw",
    ),
)
EXAMPLE_TARGET = {**OWNER, "account_id": "$ACCOUNT_ID"}


class ProxyQuery(Query):
    """Whose account. A Connect token's own user need not be named; every other parameter goes upstream."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = None
    account_id: str = Field(description="The account's id (`apn_…`).")


def forward(call: Call) -> Response:
    """Send a request to the app of an account, and pass its answer on."""
    account = _account(call, call.query(ProxyQuery))
    request = call.request
    params = [(name, value) for name, value in request.args.items(multi=True) if name not in OURS]
    length = request.content_length or 0
    proxy_request = ProxyRequest(
        method=request.method,
        target=decoded(call.path["url_64"]),
        params=params,
        headers=_headers(request),
        body=Upload(request.stream, length) if length else None,
    )
    return _answer(request.method, proxy.send(call.service, account, proxy_request))


def decoded(url_64: str) -> str:
    """The target in ``url_64``: either base64 alphabet (RFC 4648 sections 4 and 5), padded or not.

    Raises :class:`Invalid`.
    """
    text = url_64.replace("+", "-").replace(" ", "-").replace("/", "_").rstrip("=")
    try:
        if not _ALPHABET.fullmatch(text):
            raise ValueError
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")
    except (ValueError, binascii.Error) as error:
        message = "Encode the target's address as URL-safe base64."
        raise Invalid.of("url_64", message) from error


def _account(call: Call, query: ProxyQuery) -> Account:
    external_id = call.caller.user_filter(query.external_user_id)
    if external_id is None:
        message = "Name the user whose account it is."
        raise Invalid.of("external_user_id", message)
    user = call.user or external_users.find(call.store, call.scene, external_id)
    if user is None:
        raise NotFound("There is no such account.")
    return accounts.get(call.store, call.scene, query.account_id, user=user)


def _headers(request: Request) -> dict[str, str]:
    """The headers to send: those that the caller marked, and the type of the body."""
    headers = {"Content-Type": request.content_type} if request.content_type and request.content_length else {}
    for name, value in request.headers.items():
        bare = name.lower().removeprefix(PREFIX)
        if bare and bare != name.lower():
            headers = {other: kept for other, kept in headers.items() if other.lower() != bare}
            headers[bare] = value
    return headers


def _answer(method: str, stream: Stream) -> Response:
    """The app's response, without headers that would act for our origin."""
    bodiless = method == "HEAD" or stream.status in (204, 304)  # such a response has no body to stream
    answer = Response(None if bodiless else stream.blocks(), stream.status)
    if bodiless:
        stream.close()
    answer.headers.clear()
    hops = {name.strip().lower() for name in stream.headers.get("connection", "").split(",")}
    for name, value in stream.headers.iteritems():
        lower = name.lower()
        if lower not in hops and not _WITHHELD.fullmatch(lower):
            answer.headers.add(name, value)
    if "Location" in answer.headers:
        _make_location_whole(answer, stream.url)
    for name, value in _CLOSED.items():
        answer.headers[name] = value
    answer.call_on_close(stream.close)
    return answer


def _make_location_whole(answer: Response, base: str) -> None:
    """Make the URL of a redirect absolute, since the caller requested ours; an invalid one is removed."""
    try:
        url = parse_url(urljoin(base, answer.headers.pop("Location")))
    except ValueError:
        return
    if not isinstance(url, Failure):
        answer.headers["Location"] = str(url)


METHODS: Mapping[Method, Example] = {
    "GET": Example(query=EXAMPLE_TARGET),
    "POST": Example(
        path={"url_64": "L2FwaS9wcm9qZWN0cy9wcmpfMDAxL3Rhc2tz"},
        query=EXAMPLE_TARGET,
        body={"title": "Buy milk"},
        headers={"x-pd-proxy-accept-language": "en"},
    ),
    "PUT": Example(query=EXAMPLE_TARGET, body={}),
    "PATCH": Example(path={"url_64": "$TASK_64"}, query=EXAMPLE_TARGET, body={"done": True}),
    "DELETE": Example(path={"url_64": "$TASK_64"}, query=EXAMPLE_TARGET),
}
for method, example in METHODS.items():
    declare = getattr(operations, method.lower())
    declare(
        "P/proxy/<path:url_64>",
        answer=RawContent("What the app answered, with its status."),
        scopes=(token_scopes.PROXY,),
        query=ProxyQuery,
        limit="proxy",
        errors=PROVIDER_ERRORS,
        proxied=True,
        example=example,
        name=f"proxy_{method.lower()}",
    )(forward)
