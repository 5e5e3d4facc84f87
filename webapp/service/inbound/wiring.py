"""Hangs ``/h/<key>`` into the web application: the URLs of triggers, open to any method from anywhere. Their own hosts
lead here as well (:mod:`hosts`). At ``/h/app/<slug>/<OAuth client>`` a provider tells all events of a client.

The key is all that a caller needs, so it is never logged; nor is there a cookie, a form or CORS. Whatever goes wrong is
answered here, before the framework would log the address.
"""

import logging
import threading
from collections.abc import Callable

from flask import Flask, Response
from flask import Request as FlaskRequest
from flask import request as current
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge
from werkzeug.routing import BaseConverter, Rule
from werkzeug.urls import iri_to_uri

from webapp import quotas
from webapp.errors import NotFound, PatchbayError, Throttled
from webapp.kit.networks import network_of
from webapp.service.components.calls import HttpAnswer
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import app_events, receiving
from webapp.service.domain.triggers.requests import InboundRequest
from webapp.service.inbound import answering
from webapp.service.inbound.hosts import OWN_HOST

NAME = "inbound"
log = logging.getLogger(__name__)


class RestConverter(BaseConverter):
    """Whatever stands behind the key: slashes and, unlike the framework's own, line breaks too."""

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
    """Takes requests in. Those that wait for a run hold at most a quarter of the threads."""

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
            return answering.refusal(404, error.message)
        except Throttled as error:
            return answering.refusal(429, error.reason or "Too many requests came.", error.retry_after)
        except PatchbayError as error:
            return answering.refusal(error.status, error.message, 5 if error.status == 503 else None)
        except RequestEntityTooLarge:
            return answering.refusal(413, "The body is larger than 10 MiB; send less.")
        except HTTPException as error:
            return answering.refusal(error.code or 400, "The request cannot be read; check the client that sent it.")
        except Exception:
            log.exception("A request to a trigger could not be taken in.")
            return answering.refusal(500, "The request could not be taken in. Send it again.")

    def _events(self, slug: str, oauth_app_id: str) -> Response:
        service, address = self._service, network_of(current.remote_addr or "")
        service.count(quotas.ADDRESS_REQUESTS, address)
        if current.content_length:
            service.count(quotas.ADDRESS_MB, address, current.content_length)
        if current.method == "HEAD":  # so Intercom tries an address
            app_events.listener(service, slug, oauth_app_id)
            return answering.answer(HttpAnswer(200, "", {}))
        asks_a_piece = app_events.asks_a_piece(service, slug)
        if current.method == "GET" and not asks_a_piece:
            raise MethodNotAllowed(["HEAD", "POST"])
        base = oauth_apps.events_address(service, slug, oauth_app_id)
        received = read(current, base, "", service.clock())
        return self._run(lambda: app_events.receive(service, slug, oauth_app_id, received), waits=asks_a_piece)

    def _received(self, key: str, rest: str) -> Response:
        service, address = self._service, network_of(current.remote_addr or "")
        service.count(quotas.ADDRESS_REQUESTS, address)
        trigger = receiving.listener(service, key)
        receiving.count(service, trigger)
        if current.content_length:
            service.count(quotas.ADDRESS_MB, address, current.content_length)
        settings = service.settings
        base = settings.trigger_url(key) if OWN_HOST in current.environ else f"{settings.public_url}/h/{key}"
        received = read(current, base, rest, service.clock())
        waits = receiving.caller_waits(service, trigger)
        return self._run(lambda: receiving.receive_request(service, trigger, received), waits=waits)

    def _run(self, receive: Callable[[], HttpAnswer], *, waits: bool) -> Response:
        """What ``receive`` answers; where it may wait for a run, only while few others do."""
        if not waits:
            return answering.answer(receive())
        if not self._runs.acquire(blocking=False):
            return answering.refusal(503, "Too many requests are being handled; send this one again.", 1)
        try:
            return answering.answer(receive())
        finally:
            self._runs.release()


def read(request: FlaskRequest, base: str, rest: str, at: int) -> InboundRequest:
    """``request`` to ``base`` (the trigger's URL), with the path ``rest`` behind it, which came at ``at`` (epoch ms).

    Headers come as latin-1 from the server and are mostly UTF-8. Raises
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
