"""Endpoints: their keys, and which address counts as one."""

import socket
from dataclasses import replace
from ipaddress import ip_address

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.errors import Conflict, Invalid
from webapp.service.domain.base.service import MAX_URL, Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.instance import rotation
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Address, Guard

NAMES = {
    "hooks.example": ["93.184.216.34"],
    "inside.example": ["10.0.0.5"],
    "both.example": ["93.184.216.34", "127.0.0.1"],
    "localhost": ["127.0.0.1"],
}


def look_up(host: str, _: float) -> list[Address]:
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return [ip_address(text) for text in NAMES[host]]


@pytest.fixture
def looking_up(service: Service) -> Service:
    guard = Guard((), resolver=look_up)
    return replace(service, outbound=OutboundClient(guard, user_agent="Patchbay/tests"))


def test_keys_are_sealed(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1")
    key = post.key(trigger)
    assert post.key(trigger) == key
    files = [path.read_bytes() for path in post.service.settings.data.glob("patchbay.db*")]
    assert files and not any(key.encode() in content or key[6:].encode() in content for content in files)


def test_addresses_are_sealed_and_open_after_a_rotation(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/canary-address")
    before = post.endpoint(trigger)
    report = rotation.rotate(post.service)
    assert (report.unreadable, report.resealed["endpoints"]) == (0, 2)
    for endpoint in (before, post.endpoint(trigger)):
        assert endpoints.url_of(post.service, endpoint) == "https://a.example/canary-address"
    files = [path.read_bytes() for path in post.service.settings.data.glob("patchbay.db*")]
    assert files and not any(b"canary-address" in content for content in files)
    assert "canary-address" not in repr(before)


def test_one_trigger_has_no_address_twice(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1")
    with pytest.raises(Conflict), post.service.store.write() as tx:
        endpoints.add(tx, post.service, "trigger", "https://a.example/1", scene=post.scene, trigger_id=trigger.id)


def test_the_audit_names_an_address_by_its_host_alone(post: DeliveryHarness) -> None:
    with post.service.store.write() as tx:
        endpoint = endpoints.add(tx, post.service, "workflow", "https://a.example/secret", scene=post.scene)
        endpoints.move(tx, post.service, endpoint, "https://b.example/secret")
        endpoints.remove(tx, endpoints.find(tx, endpoint.id) or endpoint, post.clock())
        endpoints.add(tx, post.service, "notification", "https://c.example/secret", scene=post.scene)
    rows = post.service.store.all("SELECT verb, sentence FROM audit WHERE noun = 'webhook' ORDER BY id")
    assert [(row["verb"], row["sentence"]) for row in rows] == [
        ("created", "A webhook (workflow) was added, at a.example."),
        ("moved", "A webhook (workflow) now leads to b.example."),
        ("removed", "A webhook (workflow) at b.example was removed."),
    ]


def test_an_address_that_can_be_reached_is_taken(looking_up: Service) -> None:
    assert endpoints.check_urls(looking_up, "url", "https://hooks.example/in", "http://93.184.216.34:8080/") == {}
    assert endpoints.check_urls(looking_up, "url", "https://hooks.example/" + "x" * (MAX_URL - 22)) == {}


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://10.0.0.5/hook", "10.0.0.5 is not on the public internet"),
        ("http://[::1]/hook", "is not on the public internet"),
        ("http://169.254.169.254/latest", "is not on the public internet"),
        ("https://inside.example/hook", "inside.example is not on the public internet"),
        ("https://both.example/hook", "both.example is not on the public internet"),
        ("http://localhost:8600/h/abc", "localhost is not on the public internet"),
        ("http://hooks.example:25/", "Port 25 is not used for web requests"),
        ("https://hooks.example/" + "x" * MAX_URL, "at most 2,000 characters"),
        ("", "must begin with https://"),
        ("ftp://hooks.example/", "must begin with https://"),
        ("javascript:alert(1)", "must begin with https://"),
        ("//hooks.example/x", "must begin with https://"),
        ("https://", "must begin with https://"),
        ("https://u:p@hooks.example/", "holds a user name"),
        ("hooks.example", "must begin with https://"),
        ("https://hooks.example/\n", "holds spaces"),
        ("http://[::1", "cannot be read"),
    ],
)
def test_one_that_nothing_can_reach_is_refused_in_the_words_of_the_guard(
    looking_up: Service, url: str, why: str
) -> None:
    with pytest.raises(Invalid, match=why.replace("[", "\\[")) as caught:
        endpoints.check_urls(looking_up, "webhook_url", "https://hooks.example/", url)
    assert [detail.field for detail in caught.value.details] == ["webhook_url"]


def test_a_name_without_a_server_is_taken_and_named(looking_up: Service) -> None:
    missing = endpoints.check_urls(looking_up, "url", "https://hooks.example/", "https://tomorrow.example/in")
    assert list(missing) == ["https://tomorrow.example/in"]
    assert missing["https://tomorrow.example/in"].startswith("There is no server named tomorrow.example")


def test_the_built_in_third_party_is_open_at_its_receiver_alone(looking_up: Service) -> None:
    sandbox = looking_up.settings.sandbox_url
    assert endpoints.check_urls(looking_up, "url", f"{sandbox}/receiver/boats") == {}
    for path in ("/tasks", "/receiver/../tasks", "/receivers"):
        with pytest.raises(Invalid, match="not on the public internet"):
            endpoints.check_urls(looking_up, "url", f"{sandbox}{path}")
    closed = replace(looking_up, settings=replace(looking_up.settings, sandbox=False))
    with pytest.raises(Invalid, match="not on the public internet"):
        endpoints.check_urls(closed, "url", f"{sandbox}/receiver/boats")
