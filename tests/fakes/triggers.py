"""Deploying the triggers of the tests' own shop, and running what is due of them."""

from collections.abc import Mapping
from typing import Any

import orjson

from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests
from webapp.service.domain.deliveries import events
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployments, fire, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.fire import RunOutcome


def deploy(
    service: Service, scene: Scene, key: str = "~/poll", user: str = "alice", *, given: Any = None, **order: Any
) -> DeployedTrigger:
    """A deployed trigger; the values are ``given``."""
    component = component_requests.find(service, key, None, "trigger")
    return deployments.deploy(service, Deployment(scene, user, component, given or {}, **order))


def poll_due(service: Service) -> list[RunOutcome]:
    """Run every poll that is due now."""
    return [fire.poll(service, one) for one in lifecycle.claim_polls(service, 100)]


def emitted(service: Service, trigger: DeployedTrigger) -> list[Mapping[str, Any]]:
    """What the trigger has emitted, oldest first, as the API shows it."""
    found = events.opened(service, events.page_of_trigger(service.store, trigger.id))
    return [{**events.to_json(one), "e": (one.body or b"").decode()} for one in reversed(found)]


def summaries(service: Service, trigger: DeployedTrigger) -> list[str]:
    """The summaries of what it has emitted, oldest first."""
    return [str(one.get("sum")) for one in emitted(service, trigger)]


def row(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """Its row as it stands."""
    found = service.store.one("SELECT * FROM deployed_triggers WHERE id = :id", {"id": trigger.id})
    assert found is not None
    return found


def called_hooks(calls: list[str]) -> list[str]:
    """The hooks that the app was told of, in order."""
    return [call.partition("?")[2] for call in calls if "?" in call]


def request_of(body: Any) -> ReceivedRequest:
    """A request that came with ``body`` as JSON."""
    return ReceivedRequest(
        {"headers": {"content-type": "application/json"}, "body": None, "bodyRaw": None}, orjson.dumps(body)
    )
