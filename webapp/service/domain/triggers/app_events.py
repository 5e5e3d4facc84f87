"""Events that a provider sends to the address of an OAuth app (table ``app_events``).

A request is verified with the secret of the OAuth app, and each event in it is stored once for every trigger whose
account it is about, before the request is answered. When its turn comes, :mod:`event_listeners` decides whether that
account may see it. A trigger that polls does so at once instead.
"""

import base64
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from webapp.errors import NotFound, PatchbayError, Unavailable
from webapp.kit.clock import DAY, SECOND
from webapp.service.catalog.spec import Events, Notices, PieceEvents, handshake_answer, member
from webapp.service.components.calls import HttpAnswer
from webapp.service.components.declared.webhooks import fits
from webapp.service.domain.accounts import events_secrets, oauth_apps
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import (
    deployed_triggers,
    event_listeners,
    inbound_requests,
    inbox,
    lifecycle,
    piece_triggers,
)
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound import id_tokens
from webapp.service.outbound.bodies import Json, at_path, parse_json
from webapp.store.contract import Tx

KEPT = DAY  # how long a repeated event is recognised; a signed time is refused much earlier
MAX_EVENTS = 1_000  # events in one request
_TEXT = (str, int)
_URL_SAFE = str.maketrans("-_", "+/")
log = logging.getLogger(__name__)


def receive(service: Service, slug: str, oauth_app_id: str, received: InboundRequest) -> HttpAnswer:
    """Receive a request at the address of a client. Raises :class:`NotFound` if it expects none."""
    client = _client(service, slug, oauth_app_id)
    if (notices := service.app(slug).spec.notices) is not None:
        return _receive_notice(service, client, notices, received)
    request = inbound_requests.stored_request(received, timestamp=received.at)
    if _is_handshake_secret(service, slug, oauth_app_id, received, request):
        return HttpAnswer(200, inbound_requests.SUCCESS, inbound_requests.JSON)
    client, facts, secret = oauth_app_at(service, slug, oauth_app_id)
    if isinstance(facts, PieceEvents):
        address = events_secrets.address_of(service, slug, client.id)
        return _receive_for_piece(
            service, piece_triggers.EventAddress(facts, client.id, secret, address), client, request
        )
    if not fits(facts.signature, secret, request.payload()):
        return HttpAnswer(401, '{"error": "The signature does not fit."}', inbound_requests.JSON)
    parsed = parse_json(received.body)
    if not isinstance(parsed, Json):
        return HttpAnswer(400, '{"error": "The body must be JSON."}', inbound_requests.JSON)
    if facts.handshake and (answer := handshake_answer(facts.handshake, parsed.value, _signer(secret))) is not None:
        return HttpAnswer(200, json.dumps(answer), inbound_requests.JSON)
    events = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    if len(events) > MAX_EVENTS:
        return HttpAnswer(
            413, f'{{"error": "Send at most {MAX_EVENTS:,} events in one request."}}', inbound_requests.JSON
        )
    for event in events:
        if isinstance(event, dict):
            _store_event(service, client, facts, event, _with_single_event(request, received, event, len(events)))
    service.wake()
    return HttpAnswer(200, inbound_requests.SUCCESS, inbound_requests.JSON)


def _receive_notice(service: Service, client: OAuthApp, notices: Notices, received: InboundRequest) -> HttpAnswer:
    """Let the triggers poll whose subscriptions are listed in a request that is verified."""
    if not _is_genuine(service, client, notices, received):
        log.info("A notification of %s for %s was ignored: its sender is not verified.", client.app, client.id)
        return HttpAnswer(401, '{"error": "The signature does not fit."}', inbound_requests.JSON)
    parsed = parse_json(received.body)
    if isinstance(parsed, Json) and notices.data:
        parsed = parse_json(_decoded(at_path(parsed.value, notices.data)))
    if not isinstance(parsed, Json):
        return HttpAnswer(400, '{"error": "The body must be JSON."}', inbound_requests.JSON)
    listed = at_path(parsed.value, notices.hooks)
    several = listed if isinstance(listed, list) else [listed]
    hooks = [hook for hook in several if isinstance(hook, _TEXT)][:MAX_EVENTS]
    keys = frozenset(event_listeners.hook_key(hook) for hook in hooks)
    with service.store.write() as tx:
        for listener in event_listeners.of_event(tx, client.id, keys, ""):
            lifecycle.poll_soon(tx, listener.trigger_id, service.clock() + notices.settles_s * SECOND)
    service.wake()
    return HttpAnswer(202, inbound_requests.SUCCESS, inbound_requests.JSON)


def _is_genuine(service: Service, client: OAuthApp, notices: Notices, received: InboundRequest) -> bool:
    """Whether a notice is signed with the client's secret, or sent from the project of its topic.

    Raises :class:`Unavailable` if that cannot be found out now.
    """
    event = inbound_requests.verified_event(received)
    if notices.topic is None:
        secret = oauth_apps.secret(service, client)
        return secret is not None and notices.signature is not None and fits(notices.signature, secret, event)
    name = re.fullmatch(notices.topic.pattern, events_secrets.of(service, client) or "")
    scheme, _, token = str(event["headers"].get("authorization", "")).partition(" ")
    if name is None or scheme.lower() != "bearer":
        return False
    claims = id_tokens.verified_claims(
        service.outbound,
        token.strip(),
        issuer=notices.topic.issuer,
        keys=notices.topic.keys,
        audience=events_secrets.address_of(service, client.app, client.id),
        clock=service.clock,
    )
    if claims is None or claims.get("email_verified") is not True:
        return False
    return str(claims.get("email")).partition("@")[2] == notices.topic.sender.format(**name.groupdict())


def _decoded(data: Any) -> bytes:
    """The bytes of base64 in either alphabet; none for anything else."""
    try:
        return base64.b64decode(data.translate(_URL_SAFE), validate=True) if isinstance(data, str) else b""
    except ValueError:
        return b""


def may_wait(service: Service, slug: str) -> bool:
    """Whether somebody else must be asked while the caller waits: the code of a piece, or who publishes keys."""
    app = service.catalog.app(slug)
    has_topic = app is not None and app.spec.notices is not None and app.spec.notices.topic is not None
    return has_topic or is_read_by_piece(service, slug)


def is_read_by_piece(service: Service, slug: str) -> bool:
    """Whether the code of a piece must interpret such a request while the caller waits."""
    app = service.catalog.app(slug)
    return app is not None and app.spec.piece_events is not None


def oauth_app_at(service: Service, slug: str, oauth_app_id: str) -> tuple[OAuthApp, Events | PieceEvents, str]:
    """The listener at the address of a client: the client, its app's declaration of events, and the signing secret.

    Raises :class:`NotFound` if there is none.
    """
    client = _client(service, slug, oauth_app_id)
    facts, secret = service.app(slug).spec.event_webhook, events_secrets.of(service, client)
    if facts is None or secret is None:
        raise NotFound(inbound_requests.NOT_FOUND)
    return client, facts, secret


def purge(service: Service) -> int:
    """Delete events received more than a day ago; return their number."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM app_events WHERE received_at < :limit", {"limit": service.clock() - KEPT})


def _client(service: Service, slug: str, oauth_app_id: str) -> OAuthApp:
    with suppress(NotFound):
        client = oauth_apps.get(service.store, oauth_app_id)
        if client.app == slug and service.catalog.app(slug) is not None:
            return client
    raise NotFound(inbound_requests.NOT_FOUND)


def _is_handshake_secret(
    service: Service, slug: str, oauth_app_id: str, received: InboundRequest, request: ReceivedRequest
) -> bool:
    """Whether an unsigned request is a handshake with the signing secret, which is stored for the client's owner."""
    client, facts = _client(service, slug, oauth_app_id), service.app(slug).spec.events
    if facts is None or facts.handshake is None or not facts.brings_secret:
        return False
    if facts.signature.header.lower() in request.facts["headers"]:
        return False
    parsed = parse_json(received.body)
    secret = at_path(parsed.value, facts.handshake.secret) if isinstance(parsed, Json) else None
    if not isinstance(secret, str) or not events_secrets.is_usable(secret):
        return False
    events_secrets.keep_handshake(service, client, secret)
    return True


def _store_event(
    service: Service, client: OAuthApp, facts: Events, event: Mapping[str, Any], request: ReceivedRequest
) -> None:
    """Store an event for all triggers that it may be about."""
    headers = request.facts["headers"]
    name, keys = str(member(event, headers, facts.name)), frozenset(_keys(facts, event, headers))
    known_by = [member(event, headers, path) for path in facts.id]
    is_known = known_by and all(isinstance(value, _TEXT) for value in known_by)
    text = json.dumps([sorted(keys), *(known_by if is_known else (name, event))], sort_keys=True)
    _fan_out(service, client, name, keys, text, request, facts.settles_s)


def _receive_for_piece(
    service: Service, at: piece_triggers.EventAddress, client: OAuthApp, request: ReceivedRequest
) -> HttpAnswer:
    """Receive the events that a piece finds in ``request``."""
    event = request.payload()
    events = piece_triggers.read_events(service, at, event)
    if events.name:
        text = json.dumps([events.identifier, events.name, event["query"], event["bodyRaw"]], sort_keys=True)
        _fan_out(service, client, events.name, frozenset({events.identifier}), text, request)
        service.wake()
    return events.answer or HttpAnswer(200, inbound_requests.SUCCESS, inbound_requests.JSON)


def _fan_out(
    service: Service,
    client: OAuthApp,
    name: str,
    keys: frozenset[str],
    text: str,
    request: ReceivedRequest,
    settles_s: int = 0,
) -> None:
    """Store an event, identified by ``text``, for all its triggers; nothing if it was received before. Those that poll
    do so ``settles_s`` seconds later.
    """
    with service.store.write() as tx:
        if not _is_first(tx, client, hashlib.sha256(text.encode(errors="replace")).hexdigest(), service.clock()):
            return
        for listener in event_listeners.of_event(tx, client.id, keys, name):
            trigger = deployed_triggers.find(tx, listener.trigger_id)
            if trigger is None or not trigger.active:
                continue
            if trigger.polls_at_events:  # nothing in the event is believed, so its account need not be asked about it
                lifecycle.poll_soon(tx, trigger.id, service.clock() + settles_s * SECOND)
                continue
            try:
                inbound_requests.count(service, trigger)
                inbox.put(tx, service, trigger, request)
            except Unavailable:
                raise  # the provider sends it again
            except PatchbayError as error:
                log.warning("An event of %s was not stored for %s: %s", client.app, trigger.id, error.message)


def _is_first(tx: Tx, client: OAuthApp, digest: str, now: int) -> bool:
    sql = "INSERT INTO app_events (oauth_app_id, event_hash, received_at) VALUES (:client, :hash, :now)"
    return bool(tx.run(f"{sql} ON CONFLICT DO NOTHING", {"client": client.id, "hash": digest, "now": now}))


def _keys(facts: Events, event: Mapping[str, Any], headers: Mapping[str, Any]) -> Iterator[str]:
    for path in facts.account.paths:
        value = member(event, headers, path)
        if isinstance(value, _TEXT) and value != "":
            yield str(value)


def _with_single_event(request: ReceivedRequest, received: InboundRequest, event: Any, count: int) -> ReceivedRequest:
    """``request`` with one of several events as its body."""
    if count == 1 and not received.body.lstrip().startswith(b"["):
        return request
    return ReceivedRequest(request.facts, json.dumps(event).encode())


def _signer(secret: str) -> Callable[[str], str]:
    return lambda text: hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
