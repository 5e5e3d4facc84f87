"""What happens to OAuth clients: rotation with and without an overlap, and the client for scripts."""

import pytest

from webapp.errors import NotFound, Unauthorized
from webapp.kit.clock import HOUR, SECOND, FakeClock
from webapp.service.domain.access import client_changes, clients
from webapp.service.domain.base.service import Service


def test_the_scripted_client_is_made_once_and_keeps_its_secret(service: Service) -> None:
    client, secret = client_changes.scripted(service)
    assert client_changes.scripted(service) == (client, secret)
    assert clients.authenticate(service, client.id, secret) == client
    rotated, fresh = client_changes.rotate(service, client.id)
    assert fresh != secret and client_changes.scripted(service) == (rotated, fresh)
    assert clients.authenticate(service, client.id, fresh) == rotated


def test_rotation_ends_every_token_at_once(service: Service) -> None:
    client, secret = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    rotated, fresh = client_changes.rotate(service, client.id)  # in the same millisecond
    assert clients.authenticate(service, client.id, secret) is None
    assert clients.authenticate(service, client.id, fresh) == rotated
    with pytest.raises(Unauthorized, match="revoked"):
        clients.verify_token(service, token)
    with pytest.raises(NotFound):
        client_changes.rotate(service, "nobody")


def test_both_secrets_work_until_the_overlap_ends(service: Service, clock: FakeClock) -> None:
    client, old = clients.create(service, name="Server")
    rotated, new = client_changes.rotate(service, client.id, overlap_s=3600)
    assert rotated.old_secret_ends_at == rotated.rotated_at + HOUR
    clock.advance(HOUR - 1)
    for secret in (old, new):
        assert clients.authenticate(service, client.id, secret) == rotated
    clock.advance(2)
    assert clients.authenticate(service, client.id, old) is None
    assert clients.authenticate(service, client.id, new) == rotated


def test_tokens_end_with_the_secret_that_they_were_issued_for(service: Service, clock: FakeClock) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None, client.secret_hash).token
    rotated, _ = client_changes.rotate(service, client.id, overlap_s=1800)
    fresh = clients.issue_token(service, rotated, None).token
    assert clients.verify_token(service, token)[0] == rotated
    clock.advance(1800 * SECOND + 1)
    with pytest.raises(Unauthorized, match="revoked"):
        clients.verify_token(service, token)
    assert clients.verify_token(service, fresh)[0] == rotated


def test_the_old_secret_is_ended_by_hand(service: Service) -> None:
    client, old = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    _, new = client_changes.rotate(service, client.id, overlap_s=3600)
    client_changes.end_old_secret(service, client.id)
    assert clients.authenticate(service, client.id, old) is None
    with pytest.raises(Unauthorized, match="revoked"):
        clients.verify_token(service, token)
    assert clients.authenticate(service, client.id, new)
    client_changes.end_old_secret(service, client.id)
    verbs = [row["verb"] for row in service.store.all("SELECT verb FROM audit ORDER BY id")]
    assert verbs == ["created", "rotated", "old_secret_ended"], "what has ended is not ended again"
    with pytest.raises(NotFound):
        client_changes.end_old_secret(service, "nobody")


def test_no_more_than_two_secrets_work(service: Service) -> None:
    client, first = clients.create(service, name="Server")
    _, second = client_changes.rotate(service, client.id, overlap_s=3600)
    client_changes.rotate(service, client.id, overlap_s=3600)
    assert clients.authenticate(service, client.id, first) is None
    assert clients.authenticate(service, client.id, second)
    client_changes.rotate(service, client.id)
    assert clients.authenticate(service, client.id, second) is None


def test_an_old_secret_whose_time_is_over_is_forgotten_and_no_clock_revives_it(
    service: Service, clock: FakeClock
) -> None:
    client, first = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    rotated, second = client_changes.rotate(service, client.id, overlap_s=600)
    assert client_changes.forget_old_secrets(service) == 0 and clients.authenticate(service, client.id, first)
    clock.advance(600 * SECOND + 1)
    assert client_changes.forget_old_secrets(service) == 1
    assert client_changes.forget_old_secrets(service) == 0
    clock.advance(-300 * SECOND)
    assert clients.authenticate(service, client.id, first) is None
    assert clients.authenticate(service, client.id, second)
    with pytest.raises(Unauthorized, match="revoked"):
        clients.verify_token(service, token)
    assert clients.get(service.store, client.id).rotated_at == rotated.rotated_at
