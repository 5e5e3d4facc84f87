"""The URLs of triggers: ``/h/<key>``, open to any method from anywhere, and
``https://<key>.<PATCHBAY_WORKFLOW_DOMAIN>/…``, under which every path belongs to the trigger with that key and no
page, API or probe answers. At ``/h/app/<slug>/<OAuth app>`` a provider sends all events of an OAuth app.

The key is the only credential, so it is never logged; there are no cookies, forms or CORS. Errors are answered here,
before the framework could log the address. Responses have our origin, so the content of a trigger's response must be
inert there: its scripts do not run, it cannot be framed, stored or set cookies, no other origin can read it, and only
harmless headers pass.
"""

import json
import logging
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import Flask, Response
from flask import Request as FlaskRequest
from flask import request as current
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge
from werkzeug.routing import BaseConverter, Rule
from werkzeug.urls import iri_to_uri

from webapp import content_security_policies, quotas
from webapp.errors import NotFound, PatchbayError, Throttled
from webapp.kit.networks import network_of
from webapp.kit.origins import DEFAULT_PORTS
from webapp.service.components.calls import HttpAnswer
from webapp.service.domain.accounts import events_secrets
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import app_events, inbound_requests
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

OWN_HOST = "patchbay.trigger_host"
_KEY = re.compile(r"[a-z0-9]{1,63}")  # a label of a host name (RFC 1035 section 2.3.1)
_PASSED = frozenset(
    {"content-type", "content-language", "retry-after", "webhook-allowed-origin", "webhook-allowed-rate"}
)
_OURS = (  # headers that browsers or reverse proxies obey
    "x-accel-", "x-content-type-options", "x-dns-prefetch-control", "x-forwarded-", "x-frame-options", "x-lighttpd-",
    "x-litespeed-", "x-patchbay-", "x-permitted-", "x-reproxy-", "x-robots-tag", "x-sendfile", "x-ua-compatible",
    "x-xss-protection",
)  # fmt: skip
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}(?:\s*;[\x20-\x7e]{0,200})?")
_WITHOUT_BODY = (204, 205, 304)
_PROTECTION = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": content_security_policies.OF_OTHERS,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
NAME = "inbound"
log = logging.getLogger(__name__)


class TriggerHosts:
    """Routes the hosts of triggers, if the operator has configured a domain for them."""

    def __init__(self, settings: Settings) -> None:
        self._suffixes = _suffixes(settings) if settings.workflow_domain else frozenset()

    def route(self, environ: "WSGIEnvironment", host: str) -> bool:
        """Route a request if ``host`` is that of a trigger, and return whether it is."""
        key, _, suffix = host.partition(".")
        if suffix not in self._suffixes or not _KEY.fullmatch(key):
            return False
        environ["PATH_INFO"] = f"/h/{key}{environ.get('PATH_INFO', '')}"
        environ[OWN_HOST] = True
        return True


def _suffixes(settings: Settings) -> frozenset[str]:
    """What follows the key and its dot: the domain, with the port of the public address if it has one."""
    parts = urlsplit(settings.public_url)
    default = DEFAULT_PORTS[parts.scheme]
    port = parts.port or default
    suffix = f"{settings.workflow_domain}:{port}"
    return frozenset((suffix, str(settings.workflow_domain)) if port == default else (suffix,))


def answer(reply: HttpAnswer) -> Response:
    """The HTTP response for a trigger's ``reply``, or for one that a person configured."""
    headers = {name.lower(): value for name, value in reply.headers.items()}
    content_type = headers.pop("content-type", "").strip()
    if not _MEDIA_TYPE.fullmatch(content_type):
        content_type = "text/plain; charset=utf-8"
    body = b"" if reply.status in _WITHOUT_BODY else reply.body.encode("utf-8", "replace")
    response = Response(body, reply.status, content_type=content_type)
    for name, value in headers.items():
        if passes(name) and value.isascii() and value.isprintable():
            response.headers[name] = value
    response.headers.update(_PROTECTION)
    return response


def passes(name: str) -> bool:
    """Whether the header ``name`` (in lower case) may come from a trigger: such as ``x-hook-secret``."""
    return name in _PASSED or (name.startswith("x-") and not name.startswith(_OURS))


def refusal(status: int, sentence: str, retry_after_s: int | None = None) -> Response:
    """An error response of Patchbay itself."""
    headers = {"content-type": "application/json"}
    if retry_after_s is not None:
        headers["retry-after"] = str(retry_after_s)
    return answer(HttpAnswer(status, json.dumps({"error": sentence}), headers))


class RestConverter(BaseConverter):
    """The path after the key, with slashes and, unlike the framework's converter, line breaks."""

    regex = "(?s:.*)"
    part_isolating = False


def register(app: Flask, service: Service) -> None:
    """Serve the URLs of triggers from ``app``. A rule without methods answers all of them, unknown ones too."""
    app.url_map.converters["behind_key"] = RestConverter
    receiver = Receiver(service)
    app.view_functions[f"{NAME}.receive"] = receiver.receive
    app.view_functions[f"{NAME}.receive_events"] = receiver.receive_events
    app.url_map.add(
        Rule("/h/app/<slug>/<oauth_app_id>", endpoint=f"{NAME}.receive_events", methods=["GET", "HEAD", "POST"])
    )
    for path in ("/h/<key>", "/h/<key>/<behind_key:rest>"):
        app.url_map.add(Rule(path, endpoint=f"{NAME}.receive", strict_slashes=True, merge_slashes=False))


class Receiver:
    """Receives requests. Those that wait for a run occupy at most a quarter of the threads."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._runs = threading.BoundedSemaphore(max(1, service.settings.threads // 4))

    def receive(self, key: str, rest: str = "") -> Response:
        """Answer one request; never raises."""
        return self._answered(lambda: self._received(key, rest))

    def receive_events(self, slug: str, oauth_app_id: str) -> Response:
        """Answer one request to the one address of an OAuth client; never raises."""
        return self._answered(lambda: self._events(slug, oauth_app_id))

    def _answered(self, handle: Callable[[], Response]) -> Response:
        try:
            return handle()
        except NotFound as error:
            return refusal(404, error.message)
        except Throttled as error:
            return refusal(429, error.reason or "Too many requests came.", error.retry_after)
        except PatchbayError as error:
            return refusal(error.status, error.message, 5 if error.status == 503 else None)
        except RequestEntityTooLarge:
            return refusal(413, "The body is larger than 10 MiB; send less.")
        except HTTPException as error:
            return refusal(error.code or 400, "The request cannot be read; check the client that sent it.")
        except Exception:
            log.exception("A request to a trigger could not be taken in.")
            return refusal(500, "The request could not be taken in. Send it again.")

    def _events(self, slug: str, oauth_app_id: str) -> Response:
        service, address = self._service, network_of(current.remote_addr or "")
        service.count(quotas.ADDRESS_REQUESTS, address)
        if current.content_length:
            service.count(quotas.ADDRESS_MB, address, current.content_length)
        if current.method == "HEAD":  # Intercom verifies an address with it
            app_events.oauth_app_at(service, slug, oauth_app_id)
            return answer(HttpAnswer(200, "", {}))
        asks_a_piece = app_events.is_read_by_piece(service, slug)
        if current.method == "GET" and not asks_a_piece:
            raise MethodNotAllowed(["HEAD", "POST"])
        base = events_secrets.address_of(service, slug, oauth_app_id)
        received = read(current, base, "", service.clock())
        waits = app_events.may_wait(service, slug)
        return self._run(lambda: app_events.receive(service, slug, oauth_app_id, received), waits=waits)

    def _received(self, key: str, rest: str) -> Response:
        service, address = self._service, network_of(current.remote_addr or "")
        service.count(quotas.ADDRESS_REQUESTS, address)
        trigger = inbound_requests.trigger_at(service, key)
        inbound_requests.count(service, trigger)
        if current.content_length:
            service.count(quotas.ADDRESS_MB, address, current.content_length)
        settings = service.settings
        base = settings.trigger_url(key) if OWN_HOST in current.environ else f"{settings.public_url}/h/{key}"
        received = read(current, base, rest, service.clock())
        waits = inbound_requests.caller_waits(service, trigger)
        return self._run(lambda: inbound_requests.receive_request(service, trigger, received), waits=waits)

    def _run(self, receive: Callable[[], HttpAnswer], *, waits: bool) -> Response:
        """The response of ``receive``; 503 if it would wait for a run and too many requests do already."""
        if not waits:
            return answer(receive())
        if not self._runs.acquire(blocking=False):
            return refusal(503, "Too many requests are being handled; send this one again.", 1)
        try:
            return answer(receive())
        finally:
            self._runs.release()


def read(request: FlaskRequest, base: str, rest: str, at: int) -> InboundRequest:
    """``request`` to ``base`` (the trigger's URL), with the path ``rest`` behind it, received ``at`` (epoch ms).

    The server decodes headers as latin-1; most are UTF-8. Raises
    :class:`werkzeug.exceptions.RequestEntityTooLarge`.
    """
    query = request.query_string.decode("latin-1")
    path = f"/{rest}"
    return InboundRequest(
        method=request.method,
        path=path,
        url=f"{base}{iri_to_uri(path) if rest else ''}{f'?{query}' if query else ''}",
        query=tuple(request.args.items(multi=True)),
        headers=tuple((name, _text(value)) for name, value in request.headers.items()),
        body=request.get_data(cache=False, parse_form_data=False),
        client_ip=request.remote_addr or "",
        at=at,
    )


def _text(value: str) -> str:
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
