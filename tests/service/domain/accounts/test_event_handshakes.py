"""A secret that a provider sends waits for the owner of the client, who alone lets it sign."""

import pytest

from webapp.errors import Conflict
from webapp.service.domain.accounts import client_events, event_handshakes, provider_clients
from webapp.service.domain.accounts.provider_clients import ProviderClient
from webapp.service.domain.base.service import Service


@pytest.fixture
def client(service: Service) -> ProviderClient:
    return provider_clients.add(service, app="notion", client_id="c", client_secret="s")


def told(service: Service, client: ProviderClient) -> tuple[bool, bool]:
    """Whether a secret signs, and whether one waits."""
    facts = client_events.of(service, provider_clients.get(service.store, client.id)) or {}
    assert facts["brings_secret"]
    return facts["has_secret"], facts["secret_sent_at"] is not None


def test_it_signs_once_it_was_taken_and_is_shown_once(service: Service, client: ProviderClient) -> None:
    with pytest.raises(Conflict, match="has sent nothing yet"):
        event_handshakes.take(service, client)
    event_handshakes.keep(service, client, "canary-first")
    event_handshakes.keep(service, client, "canary-second")
    assert told(service, client) == (False, True)
    (row,) = service.store.all("SELECT secret_sealed FROM event_handshakes")
    assert b"canary" not in row["secret_sealed"]
    assert event_handshakes.take(service, client) == "canary-second"
    assert told(service, client) == (True, False)
    with pytest.raises(Conflict):
        event_handshakes.take(service, client)


def test_a_later_one_replaces_none_that_signs(service: Service, client: ProviderClient) -> None:
    client = provider_clients.update(service, client, events_secret="canary-first")
    event_handshakes.keep(service, client, "canary-first")
    assert told(service, client) == (True, False)
    event_handshakes.keep(service, client, "canary-other")
    assert told(service, client) == (True, True)
    assert client_events.secret(service, provider_clients.get(service.store, client.id)) == "canary-first"
    provider_clients.remove(service, client)
    assert service.store.all("SELECT 1 FROM event_handshakes") == []
