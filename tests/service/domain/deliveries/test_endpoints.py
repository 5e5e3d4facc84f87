"""Endpoints: their keys, and which address counts as one."""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.errors import Invalid
from webapp.service.domain.deliveries import endpoints


def test_keys_are_sealed(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1")
    key = post.key(trigger)
    assert post.key(trigger) == key
    files = [path.read_bytes() for path in post.service.settings.data.glob("patchbay.db*")]
    assert not any(key.encode() in content or key[6:].encode() in content for content in files)


def test_an_address_that_is_too_long_or_none_is_refused() -> None:
    endpoints.check_url("uri", "https://a.example/" + "x" * (endpoints.MAX_URL - 18))
    for url in ("https://a.example/" + "x" * endpoints.MAX_URL, "ftp://a.example", "nothing"):
        with pytest.raises(Invalid) as caught:
            endpoints.check_url("uri", url)
        assert [detail.field for detail in caught.value.details] == ["uri"]


def test_the_audit_names_an_address_by_its_host_alone(post: DeliveryHarness) -> None:
    with post.service.store.write() as tx:
        endpoint = endpoints.add(tx, post.service, "workflow", "https://a.example/secret", scene=post.scene)
        endpoints.move(tx, endpoint, "https://b.example/secret", post.clock())
        endpoints.remove(tx, endpoint, post.clock())
        endpoints.add(tx, post.service, "notification", "https://c.example/secret", scene=post.scene)
    rows = post.service.store.all("SELECT verb, sentence FROM audit WHERE noun = 'webhook' ORDER BY id")
    assert [(row["verb"], row["sentence"]) for row in rows] == [
        ("created", "A webhook (workflow) was added, at a.example."),
        ("moved", "A webhook (workflow) now leads to b.example."),
        ("removed", "A webhook (workflow) at a.example was removed."),
    ]
