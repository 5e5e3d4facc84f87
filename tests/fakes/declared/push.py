"""A service that apps can reach, and people whose triggers are told of news by them."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar
from unittest.mock import patch

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.provider import DeclaredProvider
from tests.fakes.triggers import poll_due, summaries
from webapp.kit.clock import FakeClock
from webapp.service.components.calls import HttpAnswer
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.triggers import deployed_triggers, deployments, inbound_requests, renewal, subscriptions
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound.oauth import TokenResult

PUBLIC = "https://patchbay.example"
NONE: Mapping[str, str] = MappingProxyType({})


def _nobody(*_: Any, **__: Any) -> HttpAnswer:
    raise AssertionError("nobody listens")


@dataclass
class PushProvider(DeclaredProvider):
    """A provider that sends requests to triggers by ``receive``."""

    receive: Callable[..., HttpAnswer] = _nobody


class Stage:
    """A service with a public address, and people with accounts of ``provider`` by one client, who watch by ``key``."""

    def __init__(self, bench: Bench, provider: PushProvider, key: str, public_url: str) -> None:
        self.key, self.provider = key, provider
        provider.receive = self.receive
        self.service = replace(bench.service, settings=replace(bench.service.settings, public_url=public_url))
        self.clock, self.scene = bench.service.clock, bench.scene
        assert isinstance(self.clock, FakeClock)
        self.app = provider.app
        for front in bench.fronts:
            front.provider = provider
        client = oauth_apps.choose(self.service.store, self.scene.project_id, self.app.slug)
        assert client is not None
        self.client = client

    def connect(self, name: str) -> Account:
        made = connect_tokens.create(self.service, self.scene, connect_tokens.TokenRequest(name), client_id=None)
        result = TokenResult(f"token-{name}", None, None, None, "bearer", {})
        return connections.connect_with_grant(
            self.service, connect_tokens.verify(self.service, made["token"]), self.app, self.client, result,
            requested=self.app.default_scopes, profile=None, fields={}, account_id=None,
        )  # fmt: skip

    def deploy(self, name: str, **props: Any) -> DeployedTrigger:
        component = self.service.catalog.component(self.key)
        assert component is not None
        values = {self.app.slug: {"authProvisionId": self.connect(name).id}, **props}
        return deployments.deploy(self.service, Deployment(self.scene, name, component, values))

    def receive(
        self, url: str, body: Any = None, query: Mapping[str, str] = NONE, headers: Mapping[str, str] = NONE
    ) -> HttpAnswer:
        """A request that comes to a trigger's own address."""
        trigger = inbound_requests.trigger_at(self.service, url.rpartition("/")[2])
        raw = b"" if body is None else json.dumps(body).encode()
        pairs, told = tuple(query.items()), tuple(headers.items())
        request = InboundRequest("POST", "/", url, pairs, told, raw, "192.0.2.1", self.clock())
        return inbound_requests.receive_request(self.service, trigger, request)

    def work(self) -> None:
        """Do what the worker does: renew what is due, and look."""
        for due in subscriptions.claim(self.service, 100):
            renewal.renew(self.service, due)
        poll_due(self.service)

    def after(self, ms: int) -> None:
        """Let time pass, and the worker work."""
        self.clock.advance(ms)  # type: ignore[attr-defined]
        self.work()

    def told(self, trigger: DeployedTrigger) -> list[str]:
        """The summaries of what was emitted."""
        return summaries(self.service, trigger)

    def endpoint(self, trigger: DeployedTrigger) -> str:
        """The trigger's own address."""
        url = deployed_triggers.endpoint_url(self.service, trigger)
        assert url
        return url


S = TypeVar("S", bound=Stage)


@contextmanager
def watching(bench: Bench, provider: PushProvider, key: str, public_url: str = PUBLIC) -> Iterator[Stage]:
    """A stage whose components reach ``provider``."""
    with opened(Stage(bench, provider, key, public_url)) as stage:
        yield stage


@contextmanager
def opened(stage: S) -> Iterator[S]:
    """``stage``, whose components reach its provider; its triggers are deleted in the end."""
    with patch.object(Interpreter, "_outbound", lambda _, allow: stage.service.outbound):
        yield stage
        for trigger in deployed_triggers.of_project(stage.service.store, stage.scene.project_id):
            deployments.delete(stage.service, trigger, ignore_hook_errors=True)
