"""The part of the Connect API that finds, configures, reloads and runs components, as one external user.

Every call carries that user's Connect token. A run's history is an extension; where it is missing the answer is
``None``. Failures inside a component are values (:attr:`.Choices.problem`, :attr:`.Outcome.problem`), never errors.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models import accounts, components
from webapp.dashboard.client.models import runs as run_shapes
from webapp.dashboard.client.models.accounts import PageOf
from webapp.dashboard.client.models.components import Choices, Component, Kind, Reloaded
from webapp.dashboard.client.models.runs import Outcome, Run
from webapp.dashboard.client.transport import ServiceDown
from webapp.errors import NotFound

LOOKUP_TIMEOUT_S = 35.0  # options and fields come from the app's own provider
RUN_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Which page of which prop's options is wanted; pages count from 0."""

    prop: str
    query: str = ""
    page: int = 0
    context: Mapping[str, Any] | None = None


class ComponentClient:
    """Components as one external user may use them."""

    def __init__(self, client: ConnectClient, external_user_id: str) -> None:
        self._client, self.user_id = client, external_user_id

    def listed(self, kind: Kind, *, app: str, q: str, limit: int, after: str = "") -> PageOf[Component]:
        """``GET P/actions`` or ``P/triggers`` of one app."""
        params: dict[str, str | int | bool | list[str]] = {"app": app, "limit": limit}
        params |= {name: value for name, value in (("q", q), ("after", after)) if value}
        answer = self._client.as_user(self.user_id, "GET", self._path(kind), params=params)
        return accounts.page_of(_object(answer), components.component)

    def find(self, kind: Kind, key: str) -> Component:
        """``GET P/actions/{key}`` (section 4.5). Raises :class:`NotFound`."""
        answer = _object(self._client.as_user(self.user_id, "GET", self._path(kind, key)))
        return components.component(_object(answer.get("data", answer)))

    def options(self, component: Component, asked: Asked, values: Mapping[str, Any], dynamic_id: str = "") -> Choices:
        """``POST P/components/configure`` (section 4.6)."""
        body = self._body(component, values, dynamic_id) | {"prop_name": asked.prop, "page": asked.page}
        if asked.query:
            body["query"] = asked.query
        if asked.context:
            body["prev_context"] = asked.context
        return components.choices(self._post(self._path("components", "configure"), body, LOOKUP_TIMEOUT_S))

    def reload(self, component: Component, values: Mapping[str, Any], dynamic_id: str = "") -> Reloaded:
        """``POST P/actions/props`` or ``P/triggers/props`` (section 4.7)."""
        body = self._body(component, values, dynamic_id)
        return components.reloaded(self._post(self._path(component.kind, "props"), body, LOOKUP_TIMEOUT_S))

    def run(self, component: Component, values: Mapping[str, Any], dynamic_id: str = "") -> Outcome:
        """``POST P/actions/run`` (section 4.7a); how long it took is measured here."""
        started = time.monotonic()
        answer = self._post(self._path("actions", "run"), self._body(component, values, dynamic_id), RUN_TIMEOUT_S)
        return run_shapes.outcome(answer, round((time.monotonic() - started) * 1000))

    def runs(self, key: str, *, limit: int) -> PageOf[Run] | None:
        """``GET P/runs`` (an extension): this component's runs, newest first."""
        params: dict[str, str | int | bool | list[str]] = {"component_id": key, "limit": limit}
        params["external_user_id"] = self.user_id
        try:
            answer = self._client.as_user(self.user_id, "GET", self._path("runs"), params=params)
        except NotFound:
            return None
        return accounts.page_of(_object(answer), run_shapes.run)

    def past(self, run_id: str) -> Run:
        """``GET P/runs/{id}`` (an extension). Raises :class:`NotFound`."""
        answer = _object(self._client.as_user(self.user_id, "GET", self._path("runs", run_id)))
        return run_shapes.run(_object(answer.get("data", answer)))

    def run_path(self) -> str:
        """The path that runs an action, for showing how to call it."""
        return self._path("actions", "run")

    def body(self, component: Component, values: Mapping[str, Any], dynamic_id: str = "") -> dict[str, Any]:
        """What a run posts, for showing how to call it."""
        return self._body(component, values, dynamic_id)

    def _body(self, component: Component, values: Mapping[str, Any], dynamic_id: str) -> dict[str, Any]:
        body = {"id": component.key, "external_user_id": self.user_id, "configured_props": dict(values)}
        return body | ({"dynamic_props_id": dynamic_id} if dynamic_id else {})

    def _path(self, *parts: str) -> str:
        return self._client.project_path(*parts)

    def _post(self, path: str, body: Mapping[str, Any], timeout: float) -> Mapping[str, Any]:
        return _object(self._client.as_user(self.user_id, "POST", path, body=body, timeout=timeout))


def _object(answer: object) -> Mapping[str, Any]:
    if not isinstance(answer, dict):
        raise ServiceDown("The Connect service answered something that is not its API.")
    return answer
