"""What the owner of an OAuth app learns of its events, and the secret that signs them.

A secret that a provider sends waits for the owner of the client, who alone lets it sign.
"""

import pytest

from webapp.errors import Conflict
from webapp.service.domain.accounts import events_secrets, oauth_apps
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.service import Service


def test_the_owner_learns_where_events_come_and_what_is_missing(service: Service) -> None:
    client = oauth_apps.add(service, app="slack", client_id="c", client_secret="s")
    facts = events_secrets.facts_of(service, client)
    assert facts == {
        "uri": f"http://localhost:8600/h/app/slack/{client.id}",
        "address_name": "Request URL",
        "secret_name": "Signing Secret",
        "has_secret": False,
        "brings_secret": False,
        "secret_sent_at": None,
        "takes_topic": False,
    }
    assert events_secrets.of(service, client) is None
    changed = oauth_apps.update(service, client, events_secret="canary-secret")
    assert (events_secrets.facts_of(service, changed) or {})["has_secret"]
    assert events_secrets.of(service, changed) == "canary-secret"
    assert b"canary" not in (changed.events_sealed or b"canary")


def test_an_app_without_events_has_nothing_to_tell(service: Service) -> None:
    client = oauth_apps.add(service, app="github", client_id="c", client_secret="s")
    assert events_secrets.facts_of(service, client) is None


@pytest.fixture
def client(service: Service) -> OAuthApp:
    return oauth_apps.add(service, app="notion", client_id="c", client_secret="s")


def told(service: Service, client: OAuthApp) -> tuple[bool, bool]:
    """Whether a secret signs, and whether one waits."""
    facts = events_secrets.facts_of(service, oauth_apps.get(service.store, client.id)) or {}
    assert facts["brings_secret"]
    return facts["has_secret"], facts["secret_sent_at"] is not None


def test_it_signs_once_it_was_taken_and_is_shown_once(service: Service, client: OAuthApp) -> None:
    with pytest.raises(Conflict, match="has sent nothing yet"):
        events_secrets.take_handshake(service, client)
    events_secrets.keep_handshake(service, client, "canary-first")
    events_secrets.keep_handshake(service, client, "canary-second")
    assert told(service, client) == (False, True)
    (row,) = service.store.all("SELECT secret_sealed FROM event_handshakes")
    assert b"canary" not in row["secret_sealed"]
    assert events_secrets.take_handshake(service, client) == "canary-second"
    assert told(service, client) == (True, False)
    with pytest.raises(Conflict):
        events_secrets.take_handshake(service, client)


def test_a_later_one_replaces_none_that_signs(service: Service, client: OAuthApp) -> None:
    client = oauth_apps.update(service, client, events_secret="canary-first")
    events_secrets.keep_handshake(service, client, "canary-first")
    assert told(service, client) == (True, False)
    events_secrets.keep_handshake(service, client, "canary-other")
    assert told(service, client) == (True, True)
    assert events_secrets.of(service, oauth_apps.get(service.store, client.id)) == "canary-first"
    oauth_apps.remove(service, client)
    assert service.store.all("SELECT 1 FROM event_handshakes") == []
