"""Everybody changes the same things at once: nothing is left behind without its owner, and nobody is told of a fault.

Threads deploy, change, pause and delete triggers, rotate keys, send requests and events, disconnect accounts and remove
users and projects, while the engines of the worker poll, run and deliver.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.fakes.installation import Installation, copied, prepared
from tests.fakes.receiver import Mood, Receiver, receiving
from tests.fakes.thirdparty import GOOD_KEY, ThirdParty
from tests.once import stores
from webapp.kit.clock import now
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.instance import rotation
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.trigger_engine import TriggerEngine

HEAD = "from webapp.service.components.authoring import *\n"
SEE = """
class See(Trigger):
    name = "See"
    description = "Watches an account, and hears requests."
    dedupe = "unique"
    account = app("acme_keys")
    timer = timer(default={"intervalSeconds": 1})
    http = http_interface()
    db = service_db()
    what = string(label="What", optional=True)

    def deploy(self, ctx):
        ctx.emit({"old": True}, id="old")

    def activate(self, ctx):
        ctx.http.get("/me")
        ctx.db.set("on", True)

    def deactivate(self, ctx):
        ctx.http.get("/me")
        ctx.db.set("on", False)

    def run(self, ctx):
        n = ctx.db.get("n", 0) + 1
        ctx.db.set("n", n)
        ctx.emit({"n": n, **ctx.http.get("/me").json()}, id=str(n))
"""
USERS = ("ada", "bob")


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    """The third party's apps, and a trigger that does everything a trigger can."""
    folder = tmp_path_factory.mktemp("races")
    (folder / "components" / "see").mkdir(parents=True)
    (folder / "components" / "see" / "1.0.0.py").write_text(HEAD + SEE)
    return prepared(folder, running_party.apps)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        server.moods["/broken"] = Mood(500)
        yield server


@pytest.fixture
def installation(data: Path, party: ThirdParty, prepared_folder: Path, receiver: Receiver) -> Iterator[Installation]:
    """By the real clock, since engines and leases live by it."""
    made = Installation(
        copied(prepared_folder, data), clock=now, PATCHBAY_ALLOW_HOSTS=f"{party.netloc},{receiver.netloc}",
        PATCHBAY_MIN_POLL_S="1",
    )  # fmt: skip
    yield made
    made.stop()


class Crowd:
    """People and servers who do at random what they may."""

    def __init__(self, installation: Installation, receiver: Receiver, scene: Scene, seed: int) -> None:
        self.installation, self.receiver, self.scene = installation, receiver, scene
        self.random = random.Random(seed)
        client, _ = oauth_clients.create(installation.service, name="Server")
        self.server = access_tokens.issue(installation.service, client, None).token
        self.answers: list[tuple[str, TestResponse]] = []
        self.browser = installation.app.test_client()

    def call(self, method: str, path: str, **more: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.server}", "x-pd-environment": "development"}
        path = path if path.startswith("/") else f"/v1/connect/{self.scene.project_id}/{path}"
        answer = self.browser.open(path, method=method, base_url=self.installation.url, headers=headers, **more)
        self.answers.append((f"{method} {path}", answer))
        return answer

    def user(self) -> str:
        return self.random.choice(USERS)

    def connect(self) -> None:
        body = {"app_slug": "acme_keys", "cfmap_json": f'{{"api_key": "{GOOD_KEY}"}}', "external_user_id": self.user()}
        order = {"external_user_id": body["external_user_id"], "webhook_uri": self.receiver.url("/notified")}
        token = (self.call("POST", "tokens", json=order).json or {}).get("token")
        self.call("POST", "accounts", json={**body, "connect_token": token or "ctok_none"})

    def account(self, user: str) -> str:
        found = self.call("GET", f"accounts?external_user_id={user}").json
        ids = [one["id"] for one in (found or {}).get("data", [])]
        return self.random.choice(ids) if ids else "apn_none"

    def deploy(self) -> None:
        user = self.user()
        props = {"account": {"authProvisionId": self.account(user)}}
        url = self.receiver.url(self.random.choice(("/good", "/broken")))
        self.call("POST", "triggers/deploy", json={
            "id": "~/see", "external_user_id": user, "configured_props": props, "webhook_url": url})  # fmt: skip

    def trigger(self) -> tuple[str, str]:
        user = self.user()
        found = self.call("GET", f"deployed-triggers?external_user_id={user}&emitter_type=all").json
        ids = [one["id"] for one in (found or {}).get("data", [])]
        return user, f"deployed-triggers/{self.random.choice(ids) if ids else 'dc_none'}"

    def toggle(self) -> None:
        user, one = self.trigger()
        self.call("PUT", f"{one}?external_user_id={user}", json={"active": self.random.random() < 0.5})

    def change(self) -> None:
        user, one = self.trigger()
        self.call("PUT", f"{one}?external_user_id={user}", json={
            "configured_props": {"what": str(self.random.random())}, "name": "N"})  # fmt: skip

    def delete(self) -> None:
        user, one = self.trigger()
        forced = "&ignore_hook_errors=true" if self.random.random() < 0.5 else ""
        self.call("DELETE", f"{one}?external_user_id={user}{forced}")

    def look(self) -> None:
        user, one = self.trigger()
        for path in ("", "/events", "/deliveries", "/logs", "/stats", "/webhooks", "/pipelines"):
            self.call("GET", f"{one}{path}?external_user_id={user}&extensions=true")

    def rotate(self) -> None:
        user, one = self.trigger()
        found = self.call("GET", f"{one}/webhooks?external_user_id={user}").json
        for webhook in (found or {}).get("webhooks", []):
            self.call("POST", f"{one}/webhooks/{webhook['id']}/regenerate_signing_key?external_user_id={user}")
        self.call("POST", "webhook/regenerate_signing_key")

    def webhooks(self) -> None:
        user, one = self.trigger()
        urls = [self.receiver.url(f"/{self.random.randrange(3)}")]
        self.call("PUT", f"{one}/webhooks?external_user_id={user}", json={"webhook_urls": urls})

    def send(self) -> None:
        user, one = self.trigger()
        self.call("POST", f"{one}/test_event?external_user_id={user}", json={})
        self.call("POST", f"{one}/deliveries/resend?external_user_id={user}", json={"status": "all"})

    def knock(self) -> None:
        _, one = self.trigger()
        row = deployed_triggers.find(self.installation.service.store, one.partition("/")[2])
        key = deployed_triggers.endpoint_key(self.installation.service, row) if row else "none"
        self.call("POST", f"/h/{key}", json={"hello": 1})

    def disconnect(self) -> None:
        self.call("DELETE", f"accounts/{self.account(self.user())}")

    def remove_user(self) -> None:
        self.call("DELETE", f"users/{self.user()}")

    def act(self, times: int, deeds: Sequence[Callable[["Crowd"], None]]) -> None:
        for _ in range(times):
            try:
                self.random.choice(deeds)(self)
            except BaseException as error:
                self.answers.append((repr(error), TestResponse((), "500", {}, None)))  # type: ignore[arg-type]
                raise


USUAL = [
    Crowd.connect, Crowd.deploy, Crowd.deploy, Crowd.deploy, Crowd.toggle, Crowd.change, Crowd.delete, Crowd.look,
    Crowd.rotate, Crowd.webhooks, Crowd.send, Crowd.knock, Crowd.knock, Crowd.disconnect, Crowd.remove_user,
]  # fmt: skip


def at_once(crowds: list[Crowd], times: int, deeds: Sequence[Callable[[Crowd], None]]) -> None:
    threads = [threading.Thread(target=one.act, args=(times, deeds), name=f"crowd-{n}") for n, one in enumerate(crowds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()


OWNED = [
    *((table, "trigger_id", "deployed_triggers") for table in (
        "trigger_accounts", "trigger_memory", "trigger_runs", "trigger_inbox", "trigger_seen", "events", "deliveries",
        "endpoints")),
    ("deployed_triggers", "external_user_id", "external_users"), ("accounts", "external_user_id", "external_users"),
    ("deliveries", "event_id", "events"), ("delivery_attempts", "delivery_id", "deliveries"),
    ("endpoints", "project_id", "projects"), ("signing_keys", "project_id", "projects"),
    ("stashed_files", "project_id", "projects"), ("dynamic_props", "project_id", "projects"),
    ("piece_stores", "external_user_id", "external_users"),
    ("trigger_inbox", "project_id", "projects"), ("runs", "project_id", "projects"),
    ("events", "project_id", "projects"), ("connect_tokens", "project_id", "projects"),
]  # fmt: skip


def check(installation: Installation, crowds: list[Crowd], caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of ours went wrong, and every row that is left belongs to something."""
    wrong = {(what.split("?")[0], answer.status_code, answer.text) for one in crowds for what, answer in one.answers
             if answer.status_code >= 500}  # fmt: skip
    assert wrong == set()
    records = [one.getMessage() + (one.exc_text or "") for one in caplog.records if one.levelno >= logging.ERROR]
    assert records == []
    store = installation.service.store
    assert stores.broken_keys(store) == []
    for table, column, owner in OWNED:
        where = f"{column} IS NOT NULL AND {column} NOT IN (SELECT id FROM {owner})"
        assert store.all(f"SELECT * FROM {table} WHERE {where}") == [], (table, column)
    assert store.one("SELECT COUNT(*) AS n FROM deployed_triggers WHERE deployed = 0 OR busy_until > 0") == {"n": 0}
    counted = {
        row["name"]: row["n"] for row in store.all("SELECT * FROM counters WHERE name LIKE 'deliveries|%'") if row["n"]
    }
    sql = "SELECT trigger_id, status, COUNT(*) AS n FROM deliveries WHERE trigger_id IS NOT NULL GROUP BY 1, 2"
    assert counted == {f"deliveries|{row['trigger_id']}|{row['status']}": row["n"] for row in store.all(sql)}


@pytest.mark.parametrize("times", [12, pytest.param(80, marks=pytest.mark.faults)])
def test_everybody_at_once(
    installation: Installation, receiver: Receiver, caplog: pytest.LogCaptureFixture, times: int
) -> None:
    caplog.set_level(logging.INFO)
    crowds = [Crowd(installation, receiver, installation.scene, seed) for seed in range(6)]
    for one in crowds[:2]:
        one.connect()
        one.connect()
        one.deploy()
    with ExitStack() as stack:
        for engine in (TriggerEngine(installation.service), DeliveryEngine(installation.service)):
            engine.start()
            stack.callback(engine.stop, 5)
        at_once(crowds, times, USUAL)
        rotation.rotate(installation.service)
        time.sleep(0.2)
    deployed = [answer for one in crowds for what, answer in one.answers if what.endswith("/triggers/deploy")]
    assert 200 in {answer.status_code for answer in deployed}
    check(installation, crowds, caplog)


@pytest.mark.parametrize("round_", [0, *(pytest.param(n, marks=pytest.mark.faults) for n in range(1, 5))])
def test_a_project_goes_while_everybody_works_in_it(
    installation: Installation, receiver: Receiver, caplog: pytest.LogCaptureFixture, round_: int
) -> None:
    caplog.set_level(logging.INFO)
    service = installation.service
    scene = Scene(projects.create(service, name="Short-lived").id, "development")
    crowds = [Crowd(installation, receiver, scene, 100 * round_ + seed) for seed in range(6)]
    for one in crowds[:2]:
        one.connect()
        one.deploy()
    goer = Crowd(installation, receiver, scene, round_)

    def go() -> None:
        time.sleep(0.3)
        goer.call("DELETE", f"/v1/connect/projects/{scene.project_id}")

    with ExitStack() as stack:
        for engine in (TriggerEngine(service), DeliveryEngine(service)):
            engine.start()
            stack.callback(engine.stop, 5)
        thread = threading.Thread(target=go)
        thread.start()
        at_once(crowds, 10, [one for one in USUAL if one is not Crowd.remove_user])
        thread.join()
        time.sleep(0.2)
    assert [answer.status_code for _, answer in goer.answers] == [204]
    check(installation, [*crowds, goer], caplog)
    left = service.store.all("SELECT * FROM data_keys WHERE owner = :id", {"id": scene.project_id})
    assert left == []
