"""One call of a trigger's component: its pinned version, with its values, its accounts and what it remembers.

What goes wrong with the component or an account is a failed Reply, never an exception.
"""

import time
from collections.abc import Mapping
from typing import Any

from webapp.errors import Invalid, NotFound
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import RUN_S, Call, ErrorInfo, Method, Observation, Reply
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants, prop_values
from webapp.service.domain.components.grants import AccountUnusable
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

UNUSABLE = "AccountError"


def call(
    service: Service,
    trigger: DeployedTrigger,
    method: Method,
    *,
    state: Mapping[str, Any],
    event: Any = None,
    configured: Mapping[str, Any] | None = None,
    deadline_s: float = RUN_S,
) -> Reply:
    """Call ``method`` of the trigger's component; with ``configured`` in place of the values that it stands with."""
    started = time.monotonic()
    component = component_of(service, trigger)
    try:
        if component is None:
            raise AccountUnusable(
                f"{trigger.component_key} {trigger.component_version} is no longer in the catalog; "
                "delete this trigger and deploy it again."
            )
        given = deployed_triggers.configured(service, trigger) if configured is None else configured
        values = prop_values.checked(trigger.props, given, whole=True)
        found = grants.find_accounts(service, trigger.scene, trigger.external_id, trigger.props, values.accounts)
        granted = grants.grant_accounts(service, found, component.app)
        endpoint = deployed_triggers.endpoint_url(service, trigger)
    except (AccountUnusable, Invalid, NotFound) as error:
        return failed(service, error.message, round((time.monotonic() - started) * 1000))
    return service.runner.call(
        Call(
            path=str(component.path),
            key=component.key,
            version=component.version,
            method=method,
            props=values.props,
            labels=values.labels,
            accounts=granted.accounts,
            state=state,
            event=event,
            endpoint=endpoint,
            mask=(*prop_values.secrets_in(trigger.props, values.props), *([_key(endpoint)] if endpoint else [])),
            deadline_s=deadline_s,
            allow_hosts=granted.allow_hosts,
        )
    )


def component_of(service: Service, trigger: DeployedTrigger) -> ComponentInfo | None:
    """The version of the component that ``trigger`` was deployed with; None when it left the catalog."""
    return service.catalog.component(trigger.component_key, trigger.component_version)


def failed(service: Service, sentence: str, took_ms: int = 0) -> Reply:
    """A reply that says why nothing ran."""
    info = ErrorInfo("exception", UNUSABLE, sentence)
    return Reply(None, observations=(Observation("error", service.clock(), err=info),), error=info, took_ms=took_ms)


def _key(endpoint: str) -> str:
    return endpoint.rpartition("/")[2]
