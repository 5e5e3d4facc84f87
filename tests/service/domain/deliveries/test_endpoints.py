"""Every delivery, wherever it goes and however often, is verified by strangers: the PyPI package ``standardwebhooks``,
and the recipes of the manual in Python and JavaScript, run as they stand there.

Endpoints: their keys, and which address counts as one.

Addresses from before they were sealed: sealed when the folder is opened, and gone from the file in the clear.

General webhooks as those have them who look after them.
"""

import json
import os
import re
import shutil
import socket
import subprocess
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Got, Mood
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.clock import SECOND, FakeClock, now
from webapp.service.domain.base.service import MAX_URL, Service
from webapp.service.domain.deliveries import endpoints, events, log, trigger_webhooks
from webapp.service.domain.instance import rotation
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Address, Guard

MANUAL = (Path(__file__).parents[4] / "templates" / "docs" / "embed.md").read_text("utf-8")
RECIPES = {name: re.findall(rf"```{name}\n(.*?)```", MANUAL, re.DOTALL) for name in ("python", "javascript")}
EVENTS = ({"name": "Zoë \U0001f600", "n": 2**70}, [1, None, 1.5], "just text", 0)
AWAY = {"own": 3, "workflow": 2, "project": 1, "general": 1, "notification": 1}
NAMES = {
    "hooks.example": ["93.184.216.34"],
    "inside.example": ["10.0.0.5"],
    "both.example": ["93.184.216.34", "127.0.0.1"],
    "localhost": ["127.0.0.1"],
}
SECRET = "canary-of-an-address"


def recipe(language: str) -> str:
    """The one that checks ``x-pd-signature``."""
    (found,) = [one for one in RECIPES[language] if "given" in one and "v1" in one]
    return str(found)


@pytest.fixture
def delivered(post: DeliveryHarness) -> list[tuple[str, Got]]:
    """What came in at each kind of endpoint, some of it twice, with the key that its receiver was given."""
    post.clock.at = now()
    urls = {kind: post.receiver.url(f"/{kind}") for kind in AWAY}
    post.receiver.url("/own", Mood(503))
    with post.service.store.write() as tx:
        made = {
            kind: endpoints.add(tx, post.service, kind, urls[kind], scene=None if kind == "general" else post.scene)
            for kind in ("workflow", "project", "general", "notification")
        }  # fmt: skip
        told = [made["general"], made["notification"]]
        body = orjson.dumps({"event": "CONNECTION_SUCCESS", "connect_token": "ctok_1"})
        events.notify(tx, post.service, post.scene, "CONNECTION_SUCCESS", body, told, sealed=True)
    own = post.trigger(urls["own"], workflows=[made["workflow"].id])
    post.emit(own, *EVENTS)
    post.emit(post.trigger())
    post.turn()
    post.receiver.moods.clear()
    post.clock.advance(10 * SECOND)
    post.turn()
    for row in post.rows():
        if row["trigger_id"] == own.id:
            log.resend(post.service, own.id, row["id"])
    post.turn()
    keys = {kind: endpoints.key_of(post.service, one, post.scene) for kind, one in made.items()}
    keys["own"] = post.key(own)
    found = [(keys[one.path[1:]], one) for one in post.receiver.got]
    counts = {kind: len(post.receiver.of(f"/{kind}")) for kind in AWAY}
    assert counts == {kind: times * (len(EVENTS) if kind in ("own", "workflow") else 1) for kind, times in AWAY.items()}
    return found


def cases(delivered: list[tuple[str, Got]]) -> list[tuple[bool, str, str, str]]:
    """What is genuine and what is not: whether, the key, the header, the body."""
    found = [(True, key, got.headers["x-pd-signature"], got.body.decode()) for key, got in delivered]
    _, key, header, body = found[0]
    stamp = re.search(r"t=(\d+)", header)
    assert stamp is not None
    return [
        *found,
        (False, key, header, body + " "),
        (False, key[:-2] + "x=", header, body),
        (False, key, header[:-1] + ("0" if header[-1] != "0" else "1"), body),
        (False, key, header.replace(stamp[1], str(int(stamp[1]) + 1)), body),
        (False, key, header.replace(stamp[1], str(int(stamp[1]) - 600)), body),
    ]


def test_the_library_of_the_standard_verifies_every_delivery(delivered: list[tuple[str, Got]]) -> None:
    for key, got in delivered:
        assert Webhook(key).verify(got.body, got.headers) == json.loads(got.body)
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(got.body + b" ", got.headers)


def test_the_python_recipe_verifies_every_delivery(delivered: list[tuple[str, Got]]) -> None:
    names: dict[str, Any] = {}
    exec(recipe("python"), names)
    for genuine, key, header, body in cases(delivered):
        assert names["is_genuine"](key, header, body.encode()) is genuine


def test_the_javascript_recipe_verifies_every_delivery(delivered: list[tuple[str, Got]]) -> None:
    node = shutil.which("node")
    if node is None:
        assert os.environ.get("CI") != "true", "node is missing"
        pytest.skip("there is no node to run it")
    told = cases(delivered)
    calls = f"\nfor (const [, key, header, body] of {json.dumps(told)}) console.log(isGenuine(key, header, body));\n"
    done = subprocess.run(
        [node, "--input-type=module", "-"],
        input=recipe("javascript") + calls,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.split() == [str(genuine).lower() for genuine, *_ in told]


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_recipe_is_ten_lines(language: str) -> None:
    assert len([line for line in recipe(language).splitlines() if line.strip()]) <= 10


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


def test_the_audit_names_only_the_host_of_an_address(post: DeliveryHarness) -> None:
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
        ("https://u:p@hooks.example/", "contains a user name"),
        ("hooks.example", "must begin with https://"),
        ("https://hooks.example/\n", "contains spaces"),
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


def test_the_built_in_third_party_is_open_at_its_receiver_only(looking_up: Service) -> None:
    sandbox = looking_up.settings.sandbox_url
    assert endpoints.check_urls(looking_up, "url", f"{sandbox}/receiver/boats") == {}
    for path in ("/tasks", "/receiver/../tasks", "/receivers"):
        with pytest.raises(Invalid, match="not on the public internet"):
            endpoints.check_urls(looking_up, "url", f"{sandbox}{path}")
    closed = replace(looking_up, settings=replace(looking_up.settings, sandbox=False))
    with pytest.raises(Invalid, match="not on the public internet"):
        endpoints.check_urls(closed, "url", f"{sandbox}/receiver/boats")


def as_before(post: DeliveryHarness, *urls: str) -> None:
    """Let the endpoints stand as they did before addresses were sealed."""
    rows = endpoints.select(post.service.store, "TRUE ORDER BY position")
    with post.service.store.write() as tx:
        for endpoint, url in zip(rows, urls, strict=True):
            values = {"id": endpoint.id, "url": url}
            tx.run("UPDATE endpoints SET masked_url = :url, url_sealed = NULL, url_hash = NULL WHERE id = :id", values)


def seal_all(post: DeliveryHarness) -> int:
    turns = 0
    while endpoints.seal_clear_addresses(post.service):
        turns += 1
    return turns


def in_files(post: DeliveryHarness, secret: str) -> bool:
    post.service.store.checkpoint()
    return any(secret.encode() in file.read_bytes() for file in post.service.settings.data.glob("patchbay.db*"))


@pytest.mark.embedded
def test_addresses_in_the_clear_are_sealed_and_deleted_from_the_file(
    post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"{post.receiver.url(f'/{number}')}/{SECRET}" for number in range(3)]
    trigger = post.trigger(*urls)
    as_before(post, *urls)
    assert in_files(post, SECRET)
    monkeypatch.setattr(endpoints, "SEAL_BATCH", 2)
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


def test_deleted_hashes_are_computed_again_from_sealed_addresses(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1")
    before = post.endpoint(trigger)
    with post.service.store.write() as tx:
        endpoints.forget_hashes(tx)
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


def test_a_project_has_its_own_only(service: Service, scene: Scene, clock: FakeClock) -> None:
    with service.store.write() as tx:
        shared = endpoints.add(tx, service, "general", "https://a.example", scene=None)
        clock.advance(SECOND)
        own = endpoints.add(tx, service, "general", "https://b.example", scene=None, project_id=scene.project_id)
        webhook = endpoints.add(tx, service, "project", "https://c.example", scene=scene)
    reader = service.store
    assert [row.id for row in endpoints.general_webhooks(reader)] == [shared.id, own.id]
    assert endpoints.general_webhooks(reader, scene.project_id) == [own]
    assert endpoints.get_general(reader, shared.id) == shared
    for webhook_id, only in ((shared.id, scene.project_id), (webhook.id, None), ("wh_absent", None)):
        with pytest.raises(NotFound):
            endpoints.get_general(reader, webhook_id, only)


def test_a_test_happens_where_the_installation_works(service: Service, clock: FakeClock) -> None:
    with service.store.write() as tx:
        shared = endpoints.add(tx, service, "general", "https://a.example", scene=None)
    with pytest.raises(NotFound, match="no project yet"):
        endpoints.scene_of_general_test(service, shared, None, "production")
    oldest = projects.create(service, name="Oldest").id
    clock.advance(SECOND)
    other = projects.create(service, name="Other").id
    with service.store.write() as tx:
        own = endpoints.add(tx, service, "general", "https://b.example", scene=None, project_id=other)
    told = replace(service, settings=replace(service.settings, project=other))
    for where, webhook, project_id, expected in (
        (service, shared, None, oldest),
        (told, shared, None, other),
        (told, shared, oldest, oldest),
        (service, own, None, other),
    ):
        scene = endpoints.scene_of_general_test(where, webhook, project_id, "production")
        assert scene == Scene(expected, "production")
    for project_id in (oldest, "proj_absent"):
        with pytest.raises(NotFound):
            endpoints.scene_of_general_test(service, own, project_id, "production")
