"""An installation with pieces in it, driven through the API as a product would."""

import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import requests

from tests.fakes import receiver
from tests.fakes.catalog_bench import rerouted
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.installation import Installation
from tests.fakes.pieces.web import Web
from tests.fakes.receiver import Got
from tests.fakes.user_data import plant_account
from webapp.app import create_app
from webapp.kit.clock import FakeClock
from webapp.kit.crypto import new_id
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.deliveries.endpoints import key_of
from webapp.service.domain.deliveries.sender import Sender
from webapp.service.domain.pieces import pieces
from webapp.service.domain.pieces.pieces import Piece
from webapp.service.domain.triggers import deployed_triggers, fire, inbox, lifecycle, renewal, subscriptions
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.outbound.guard import Guard
from webapp.service.pieces import packages, plans
from webapp.service.pieces.plans import Plan

Install = Callable[[Path], str]
"""Puts a package with what it needs into the empty folder given; what it is called."""


@dataclass(frozen=True)
class Bringing:
    """A piece to add: in that version, from there, which may reach ``hosts`` besides what it proposes."""

    version: str
    install: Install
    hosts: Sequence[str] = ()


class PieceBench:
    """``plans`` are what was added, by the package's name."""

    def __init__(self, data: Path, web: Web, clock: FakeClock, brought: Sequence[Bringing]) -> None:
        self.web, self.clock = web, clock
        self._stack = ExitStack()
        self.receiver = self._stack.enter_context(receiver.receiving())
        self.installation = _Installation(data, web, clock, self.receiver.netloc)
        try:
            self.plans = {plan.package.name: plan for plan in [self._add(piece) for piece in brought]}
            self.installation.restart()
            self.installation.start()
        except BaseException:
            self.close()
            raise

    @property
    def token(self) -> str:
        """An access token, which lives by the bench's clock."""
        return self.installation.server_token()

    def close(self) -> None:
        self.installation.stop()
        self._stack.close()

    def client(self, app: str, secret: str) -> str:
        """An OAuth client of ``app``, and what signs its events."""
        return oauth_apps.add(
            self.installation.service, app=app, client_id="c", client_secret="s", events_secret=secret,
            project_id=self.installation.project.id,
        ).id  # fmt: skip

    def forget_clients(self, app: str) -> None:
        """Remove the OAuth clients of ``app`` that other tests left, with the accounts that use them."""
        service = self.installation.service
        for client in oauth_apps.list_all(service.store):
            if client.app == app:
                for account in self.installation.accounts():
                    if account.oauth_app_id == client.id:
                        assert self.installation.api("DELETE", f"accounts/{account.id}", self.token).status_code == 204
                oauth_apps.remove(service, client)

    def account(self, user: str, app: str, values: dict[str, str], client: str | None = None) -> dict[str, str]:
        """The value of an app prop: an account of ``user`` with ``values``."""
        service, scene = self.installation.service, self.installation.scene
        account = plant_account(service, scene, user, app, values, oauth_app_id=client)
        return {"authProvisionId": account.id}

    def ask(self, path: str, key: str, user: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A call of a component; the answer of the API."""
        body = {"id": key, "external_user_id": user, "configured_props": values, **more}
        answer = self.installation.api("POST", path, self.token, json=body)
        assert answer.status_code < 300, answer.text
        result: dict[str, Any] = answer.json()
        return result

    def run(self, key: str, user: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self.ask("actions/run", key, user, values, **more)

    def deploy(self, key: str, user: str, values: dict[str, Any], **more: Any) -> DeployedTrigger:
        data = self.ask("triggers/deploy", key, user, values, **more)["data"]
        trigger = deployed_triggers.find(self.installation.service.store, data["id"])
        assert trigger is not None
        return trigger

    def delete(self, trigger: DeployedTrigger, user: str) -> int:
        path = f"deployed-triggers/{trigger.id}?external_user_id={user}"
        return self.installation.api("DELETE", path, self.token).status_code

    def hit(self, address: str, method: str = "POST", **more: Any) -> requests.Response:
        """A request to an address of ours, as a provider sends it."""
        return requests.request(method, address, timeout=30, **more)

    def deliveries(self) -> list[dict[str, Any]]:
        """Send what waits; the bodies that came, each signed with its webhook's key."""
        service, before = self.installation.service, len(self.receiver.got)
        harness = DeliveryHarness(service, self.clock, self.installation.scene, self.receiver)
        tasks = harness.claim()
        sender = Sender(service, partial(deployed_triggers.mask_of, service), deadline_s=5.0)
        harness.finish([sender.send(task) for task in tasks])
        keys, came = {key_of(service, task.endpoint, task.scene) for task in tasks}, self.receiver.got[before:]
        for got in came:
            _check_signature(got, keys)
        return [json.loads(got.body) for got in came]

    def work(self) -> None:
        """Do what is due, as the worker does: requests that wait, polls, renewals."""
        service = self.installation.service
        while (waiting := inbox.claim(service)) is not None:
            inbox.run_queued(service, waiting)
        for trigger in lifecycle.claim_polls(service, 100):
            fire.poll(service, trigger)
        for subscription in subscriptions.claim(service, 100):
            renewal.renew(service, subscription)

    def _add(self, piece: Bringing) -> Plan:
        """Bring, describe and write one; the catalog reads it when it is opened again."""
        service, data = self.installation.service, self.installation.data
        staging = data / "staging"
        package = piece.install(staging)
        name = packages.folder(package)
        folder = f"packages/{name}/{piece.version}"
        target = data / "pieces" / folder
        target.parent.mkdir(parents=True, exist_ok=True)
        staging.rename(target)
        described = service.executor.ask_package(PackageCall(target, package, "describe"))
        assert described.ok, described.error
        plan = plans.plan(
            described.value, package=package, version=piece.version, folder=folder, data=data, catalog=service.catalog,
            source=_source(target / "node_modules" / package),
        )  # fmt: skip
        hosts = tuple(dict.fromkeys((*plan.hosts, *piece.hosts)))
        plans.write(plan, data, hosts)
        with service.store.write() as tx:
            pieces.insert(tx, _row(package, name, piece.version, plan.title, hosts))
        return plan


class _Installation(Installation):
    """One whose own requests, such as those by which it tries an account, reach the played hosts too."""

    def __init__(self, data: Path, web: Web, clock: FakeClock, receiver: str) -> None:
        self._web = web
        super().__init__(data, clock=clock, PATCHBAY_ALLOW_HOSTS=receiver)

    def _open(self) -> None:
        super()._open()
        web, allowed = self._web, self.settings.allow_hosts
        guard = Guard((*allowed, *web.hosts), resolver=lambda *_: [ip_address("127.0.0.1")])
        client = rerouted(guard, ca_file=web.authority.ca_file, port=web.port)
        self.service = replace(self.service, outbound=client)
        self.app = create_app(self.settings, service=self.service, clock=self.clock)


def _check_signature(got: Got, keys: set[str]) -> None:
    """Hold a delivery against the key that its receiver knows, as the manual tells it to."""
    at, _, signature = got.headers["x-pd-signature"].removeprefix("t=").partition(",v1=")
    signed = f"{at}.".encode() + got.body
    assert signature in {hmac.new(key.encode(), signed, hashlib.sha256).hexdigest() for key in keys}


def _source(folder: Path) -> str:
    return "\n".join(file.read_text("utf-8") for file in sorted(folder.rglob("src/**/*.js")))


def _row(package: str, folder: str, version: str, title: str, hosts: tuple[str, ...]) -> Piece:
    return Piece(
        id=new_id("pc"), package=package, folder=folder, source="registry", origin="", title=title, summary="",
        version=version, hidden=False, hosts=hosts, state="added", wanted="", step=0, error="", stopping=False,
        holder=0, turn=0, newest="", looked_at=0, added_at=0, changed_at=0,
    )  # fmt: skip
