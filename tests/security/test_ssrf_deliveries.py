"""Every address that deliveries, notifications, actions and polls go to: nothing that is not public is connected to.

The addresses are those of test_ssrf_end_to_end.py. Deliveries go out from this process, where an audit hook sees every
connect; components run in processes of their own, so a listener on all addresses tells whether one arrived.
"""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.fakes import ssrf
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.installation import Installation, copied
from tests.fakes.receiver import Mood, Receiver, receiving
from tests.fakes.ssrf import VECTORS, answers
from webapp.errors import Invalid
from webapp.kit.clock import FakeClock
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import notifications
from webapp.service.domain.components import component_requests, components
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.deliveries import endpoints
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url

TIMER = {"id": "schedule-custom-interval", "configured_props": {"cron": {"intervalSeconds": 9_000}}}


class Attack:
    """Somebody who gives an installation addresses to deliver to; they lead to ``listener`` or worse."""

    def __init__(
        self, installation: Installation, clock: FakeClock, listener: socket.socket, receiver: Receiver
    ) -> None:
        self.installation, self.listener = installation, listener
        self.browser: FlaskClient = installation.app.test_client()
        self.server = installation.server_token()
        self.post = DeliveryHarness(installation.service, clock, installation.scene, receiver)
        self.vectors = [vector.replace("{port}", str(listener.getsockname()[1])) for vector in VECTORS]

    def call(self, method: str, path: str, **more: Any) -> TestResponse:
        """One call of the API by a server."""
        headers = {"Authorization": f"Bearer {self.server}", "x-pd-environment": "development"}
        path = path if path.startswith("/") else f"/v1/connect/{self.installation.project.id}/{path}"
        return self.browser.open(path, method=method, base_url=self.installation.url, headers=headers, **more)

    def each(self, give: Callable[[str], bool], least: int, step: int = 1) -> None:
        """Give every address away; at least ``least`` are taken."""
        assert sum(map(give, self.vectors[::step])) >= least

    def deliver(self, least: int) -> None:
        """Send everything that waits: all of it fails, and nothing was connected to."""
        ssrf.listen()
        outcomes = self.post.turn()
        assert len(outcomes) >= least
        assert [one.task.endpoint.masked_url for one in outcomes if one.error is None or one.status is not None] == []
        self.check()

    def check(self) -> None:
        assert ssrf.connects == []
        with pytest.raises(BlockingIOError):
            self.listener.accept()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Something that must not be found, on all addresses of this machine."""
    opened = socket.create_server(("0.0.0.0", 0))
    opened.setblocking(False)
    yield opened
    opened.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def attack(
    data: Path, clock: FakeClock, prepared_folder: Path, listener: socket.socket, receiver: Receiver
) -> Iterator[Attack]:
    made = Installation(copied(prepared_folder, data), clock=clock, resolver=answers)
    yield Attack(made, clock, listener, receiver)
    made.stop()


@pytest.fixture
def once_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every name and address had been public when it was entered: what is sent is judged anew."""

    def form_alone(_: object, field: str, *urls: str) -> dict[str, str]:
        for url in urls:
            if isinstance(parse_url(url), Failure):
                raise Invalid.of(field, "No address.")
        return {}

    monkeypatch.setattr(endpoints, "check_urls", form_alone)


def taken(answer: TestResponse) -> bool:
    assert answer.status_code in (200, 400), answer.text
    return answer.status_code == 200


def test_hardly_any_can_be_entered(attack: Attack) -> None:
    ssrf.listen()
    entered = set[str]()
    for vector in attack.vectors:
        try:
            entered |= set(endpoints.check_urls(attack.installation.service, "url", vector)) or {"!" + vector}
        except Invalid:
            continue
    assert not [url for url in entered if url.startswith("!")], "only names that no server has yet"
    attack.check()


@pytest.mark.usefixtures("once_public")
def test_the_webhook_of_a_deployment(attack: Attack) -> None:
    def deploy(vector: str) -> bool:
        body = {**TIMER, "external_user_id": "alice", "webhook_url": vector}
        answer = attack.call("POST", "triggers/deploy", json=body)
        if not (done := taken(answer)) or not vector:  # no address is no webhook
            return False
        trigger = answer.json["data"]["id"] if answer.json else ""
        attack.call("POST", f"deployed-triggers/{trigger}/test_event?external_user_id=alice", json={})
        return done

    attack.each(deploy, 60)
    attack.deliver(60)


@pytest.mark.usefixtures("once_public")
def test_the_webhooks_of_a_trigger(attack: Attack) -> None:
    made = attack.call("POST", "triggers/deploy", json={**TIMER, "external_user_id": "alice"}).json
    assert made
    path = f"deployed-triggers/{made['data']['id']}"

    def replace(vector: str) -> bool:
        if not taken(attack.call("PUT", f"{path}/webhooks?external_user_id=alice", json={"webhook_urls": [vector]})):
            return False
        attack.call("POST", f"{path}/test_event?external_user_id=alice", json={})
        attack.deliver(1)
        return True

    attack.each(replace, 25, 2)


@pytest.mark.usefixtures("once_public")
def test_the_webhook_of_a_project(attack: Attack) -> None:
    made = attack.call("POST", "triggers/deploy", json={**TIMER, "external_user_id": "alice"}).json
    assert made

    def put(vector: str) -> bool:
        if not taken(attack.call("PUT", "webhook", json={"url": vector})):
            return False
        attack.call("POST", f"deployed-triggers/{made['data']['id']}/test_event?external_user_id=alice", json={})
        attack.deliver(1)
        return True

    attack.each(put, 25, 2)


@pytest.mark.usefixtures("once_public")
def test_general_webhooks_notifications_and_workflows(attack: Attack) -> None:
    service, scene = attack.installation.service, attack.installation.scene

    def general(vector: str) -> bool:
        query = {"url": vector.encode("utf-8", "replace").decode(), "name": "All", "description": "All"}
        return taken(attack.call("POST", "/v1/webhooks", query_string=query))

    def notified(vector: str) -> bool:
        try:
            text = connect_tokens.create(service, scene, TokenRequest("alice", webhook_uri=vector), client_id=None)[
                "token"
            ]
        except Invalid:
            return False
        with service.store.write() as tx:
            notifications.connect_failed(tx, service, connect_tokens.verify(service, str(text)), "No.")
        return True

    def workflow(vector: str) -> bool:
        try:
            endpoints.check_urls(service, "url", vector)
        except Invalid:
            return False
        with service.store.write() as tx:
            made = endpoints.add(tx, service, "workflow", vector, scene=scene, name="W")
        body = {**TIMER, "external_user_id": "alice", "workflow_id": made.id}
        trigger = attack.call("POST", "triggers/deploy", json=body).json
        assert trigger
        attack.call("POST", f"deployed-triggers/{trigger['data']['id']}/test_event?external_user_id=alice", json={})
        return True

    attack.each(notified, 60)
    attack.each(workflow, 60)
    attack.each(general, 60)
    notified("https://public.test/")
    attack.post.room = lambda *_: 1_000
    attack.deliver(180)


def test_a_logo_is_never_fetched(attack: Attack) -> None:
    ssrf.listen()
    for vector in attack.vectors:
        path = f"/v1/connect/projects/{attack.installation.project.id}/logo"
        assert attack.call("POST", path, json={"logo": vector}).status_code == 400, vector
    attack.check()


def test_a_redirect_of_a_receiver_is_not_followed(attack: Attack, receiver: Receiver) -> None:
    attack.post.allow(receiver.netloc)
    for number, vector in enumerate(attack.vectors[:40]):
        location = {"Location": vector.encode("ascii", "ignore").decode()}
        url = receiver.url(f"/{number}", Mood((301, 302, 303, 307, 308)[number % 5], location))
        attack.post.emit(attack.post.trigger(url, user="alice"))
    ssrf.listen()
    outcomes = attack.post.turn()
    assert len(outcomes) == 40 and all("is not followed" in (one.error or "") for one in outcomes)
    there = {("127.0.0.1", receiver.server_address[1])}
    assert set(map(str, ssrf.connects)) == set(map(str, there))
    with pytest.raises(BlockingIOError):
        attack.listener.accept()


def test_requests_and_feeds_of_components(attack: Attack) -> None:
    """What the process of a component resolves by itself: the addresses that lead to the listener without our DNS."""
    service, scene = attack.installation.service, attack.installation.scene
    port = str(attack.listener.getsockname()[1])
    for vector in [one for one in attack.vectors if port in one and ".test" not in one][::6]:
        text = vector.encode("utf-8", "replace").decode()
        for key, props in (
            ("http-send-request", {"request": {"url": text, "method": "GET"}}), ("rss-fetch-feed", {"url": text})
        ):  # fmt: skip
            component = component_requests.find(service, key, None, "action")
            try:
                ran = components.run(service, ComponentRequest(scene, "alice", component, props))
            except Invalid:
                continue
            assert ran["os"][-1]["k"] == "error", vector
    with pytest.raises(BlockingIOError):
        attack.listener.accept()
