"""What the owner of an OAuth client is told of its events, and the secret that signs them."""

from webapp.service.domain.accounts import client_events, provider_clients
from webapp.service.domain.base.service import Service


def test_the_owner_learns_where_events_come_and_what_is_missing(service: Service) -> None:
    client = provider_clients.add(service, app="slack", client_id="c", client_secret="s")
    facts = client_events.of(service, client)
    assert facts == {
        "uri": f"http://localhost:8600/h/app/slack/{client.id}",
        "address_name": "Request URL",
        "secret_name": "Signing Secret",
        "has_secret": False,
        "brings_secret": False,
        "secret_sent_at": None,
    }
    assert client_events.secret(service, client) is None
    changed = provider_clients.update(service, client, events_secret="canary-secret")
    assert (client_events.of(service, changed) or {})["has_secret"]
    assert client_events.secret(service, changed) == "canary-secret"
    assert b"canary" not in (changed.events_sealed or b"canary")


def test_an_app_without_events_has_nothing_to_tell(service: Service) -> None:
    client = provider_clients.add(service, app="github", client_id="c", client_secret="s")
    assert client_events.of(service, client) is None
