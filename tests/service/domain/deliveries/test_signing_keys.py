"""Every delivery, wherever it goes and however often, is verified by strangers: the PyPI package ``standardwebhooks``,
and the recipes of the manual in Python and JavaScript, run as they stand there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Got, Mood
from webapp.kit.clock import SECOND, now
from webapp.service.domain.deliveries import endpoints, events, resending

MANUAL = (Path(__file__).parents[4] / "templates" / "docs" / "embed.md").read_text("utf-8")
RECIPES = {name: re.findall(rf"```{name}\n(.*?)```", MANUAL, re.DOTALL) for name in ("python", "javascript")}
EVENTS = ({"name": "Zoë \U0001f600", "n": 2**70}, [1, None, 1.5], "just text", 0)
AWAY = {"own": 3, "workflow": 2, "project": 1, "general": 1, "notification": 1}


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
            resending.resend(post.service, own.id, row["id"])
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
