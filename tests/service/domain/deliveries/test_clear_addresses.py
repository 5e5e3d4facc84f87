"""Addresses from before they were sealed: sealed when the folder is opened, and gone from the file in the clear."""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.service.domain.deliveries import clear_addresses, endpoints, trigger_webhooks

SECRET = "canary-of-an-address"


def as_before(post: DeliveryHarness, *urls: str) -> None:
    """Let the endpoints stand as they did before addresses were sealed."""
    rows = endpoints.select(post.service.store, "TRUE ORDER BY position")
    with post.service.store.write() as tx:
        for endpoint, url in zip(rows, urls, strict=True):
            values = {"id": endpoint.id, "url": url}
            tx.run("UPDATE endpoints SET masked_url = :url, url_sealed = NULL, url_hash = NULL WHERE id = :id", values)


def seal_all(post: DeliveryHarness) -> int:
    turns = 0
    while clear_addresses.seal_some(post.service):
        turns += 1
    return turns


def in_files(post: DeliveryHarness, secret: str) -> bool:
    post.service.store.checkpoint()
    return any(secret.encode() in file.read_bytes() for file in post.service.settings.data.glob("patchbay.db*"))


@pytest.mark.embedded
def test_what_stood_in_the_clear_is_sealed_and_gone_from_the_file(
    post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"{post.receiver.url(f'/{number}')}/{SECRET}" for number in range(3)]
    trigger = post.trigger(*urls)
    as_before(post, *urls)
    assert in_files(post, SECRET)
    monkeypatch.setattr(clear_addresses, "BATCH", 2)
    assert seal_all(post) == 2
    assert not in_files(post, SECRET)
    before = trigger_webhooks.of_trigger(post.service.store, trigger.id)
    assert [endpoints.url_of(post.service, endpoint) for endpoint in before] == urls
    assert {endpoint.masked_url for endpoint in before} == {post.receiver.url("/…")}
    trigger_webhooks.change_urls(post.service, trigger, urls)
    assert trigger_webhooks.of_trigger(post.service.store, trigger.id) == before, "they are found by their URLs"
    post.emit(trigger)
    assert [outcome.error for outcome in post.turn()] == [None] * 3
    assert sorted(got.path for got in post.receiver.got) == [f"/{number}/{SECRET}" for number in range(3)]


def test_forgotten_hashes_are_made_anew_of_what_is_sealed(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1")
    before = post.endpoint(trigger)
    with post.service.store.write() as tx:
        clear_addresses.forget_hashes(tx)
    assert post.endpoint(trigger).url_hash is None
    assert seal_all(post) == 1
    assert post.endpoint(trigger) == before


def test_a_damaged_one_keeps_nobody_from_starting(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1", "https://a.example/2")
    with post.service.store.write() as tx:
        tx.run(
            "UPDATE endpoints SET url_hash = NULL, url_sealed = :box WHERE position = 0", {"box": b"\0\1" + bytes(62)}
        )
    assert seal_all(post) == 1
    post.emit(trigger)
    assert sorted("damaged" in (outcome.error or "") for outcome in post.turn()) == [False, True]
