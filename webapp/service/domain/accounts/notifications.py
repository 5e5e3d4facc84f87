"""Notifications of connections and triggers, sent to those who subscribed (contract "Deliveries").

    CONNECTION_SUCCESS, CONNECTION_ERROR   to the Connect token's webhook_uri, and to general webhooks
    ACCOUNT_DEAD, TRIGGER_DEACTIVATED      to general webhooks
    TEST                                   to one general webhook, on request

Each is written in the transaction that it is about, and delivered like any event; the caller commits and then calls
``service.wake()``. It never contains credentials. A body that contains a Connect token is sealed.
"""

from typing import Any

import orjson

from webapp.kit.crypto import stable_id
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.failures import ConnectFailed
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoint_state, endpoints, events, signing_keys
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.event_targets import TriggerReference
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Tx

SUCCESS, ERROR = "CONNECTION_SUCCESS", "CONNECTION_ERROR"
DEAD, DEACTIVATED, TEST = "ACCOUNT_DEAD", "TRIGGER_DEACTIVATED", "TEST"


def notify_connected(tx: Tx, service: Service, token: ConnectToken, account: Account) -> None:
    """An account was connected or reconnected with ``token``."""
    _about_connection(tx, service, token, SUCCESS, account=accounts.to_json(service, account))


def connect_failed(tx: Tx, service: Service, token: ConnectToken, sentence: str) -> None:
    """An attempt to connect with ``token`` ended without an account."""
    _about_connection(tx, service, token, ERROR, error=sentence)


def notify_refused(service: Service, token: ConnectToken, error: ConnectFailed) -> None:
    """Notify of a connection that was requested without an attempt, and refused."""
    with service.store.write() as tx:
        connect_failed(tx, service, token, error.message)
    service.wake()


def account_dead(tx: Tx, service: Service, account: Account, reason: str) -> None:
    """An account's credentials are refused for good."""
    facts = {"account": accounts.to_json(service, account), "error": reason}
    _notify(tx, service, account.scene, DEAD, facts, endpoints.general(tx, account.scene.project_id), sealed=False)


def trigger_deactivated(tx: Tx, service: Service, trigger: TriggerReference, reason: str) -> None:
    """The system switched a trigger off."""
    facts = {"trigger": {"id": trigger.id}, "error": reason}
    _notify(
        tx, service, trigger.scene, DEACTIVATED, facts, endpoints.general(tx, trigger.scene.project_id), sealed=False
    )


def test(service: Service, endpoint: Endpoint, scene: Scene) -> None:
    """Send a test notification to ``endpoint``, signed with the key of ``scene`` like all others."""
    with service.store.write() as tx:
        _notify(tx, service, scene, TEST, {"message": "This is a test."}, [endpoint], sealed=False)
    service.wake()


def _about_connection(tx: Tx, service: Service, token: ConnectToken, kind: str, **facts: Any) -> None:
    targets = endpoints.general(tx, token.scene.project_id)
    webhook_uri = connect_tokens.webhook_uri_of(service, token)
    if webhook_uri:
        targets.append(_one_off(tx, service, token.scene, webhook_uri))
    if not targets:
        return
    envelope = {
        "connect_token": connect_tokens.in_the_clear(service, token),
        "connect_session_id": stable_id("cs", token.token_hash),
        **facts,
    }
    _notify(tx, service, token.scene, kind, envelope, targets, sealed=True)


def _notify(
    tx: Tx, service: Service, scene: Scene, kind: str, facts: dict[str, Any], targets: list[Endpoint], *, sealed: bool
) -> None:
    if not targets:
        return
    signing_keys.ensure(tx, service, scene)
    envelope = {"event": kind, "environment": scene.environment, "project_id": scene.project_id, **facts}
    events.notify(tx, service, scene, kind, orjson.dumps(envelope), targets, sealed=sealed)


def _one_off(tx: Tx, service: Service, scene: Scene, url: str) -> Endpoint:
    """The endpoint of a token's ``webhook_uri``. Nobody can reset it, so each notification enables it again."""
    for endpoint in endpoints.of_url(tx, service, scene, "notification", url):
        if endpoint.active:
            return endpoint
        endpoint_state.restart(tx, endpoint, service.clock())
        return endpoints.find(tx, endpoint.id) or endpoint
    return endpoints.add(tx, service, "notification", url, scene=scene)
