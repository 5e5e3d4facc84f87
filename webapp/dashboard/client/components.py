"""Finds, configures, reloads and runs components for one external user (contract "Components").

Failures inside a component are values (:attr:`.Choices.problem`, :attr:`.Outcome.problem`), not exceptions.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webapp.dashboard.client.connect import SLUGS, UserCalls
from webapp.dashboard.client.models.components import Choices, Component, FoundComponent, Kind, Reloaded
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.models.runs import Outcome, Run, StashedFile
from webapp.dashboard.client.transport import Params

LOOKUP_TIMEOUT_S = 35.0  # options and fields come from the app's own provider
RUN_TIMEOUT_S = 60.0
UPLOAD_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class OptionsQuery:
    """A request for a page of a prop's options; pages are numbered from 0."""

    prop: str
    query: str = ""
    page: int = 0
    context: Mapping[str, Any] | None = None


class ComponentClient(UserCalls):
    """Calls the components API for one external user."""

    def listed(self, kind: Kind, *, app: str, q: str, limit: int, after: str = "") -> PageOf[Component]:
        """``GET P/actions`` or ``P/triggers`` of one app."""
        params: Params = {"app": app, "limit": limit, "q": q, "after": after, "extensions": True}
        return self.ask(PageOf[Component], "GET", self.client.path(kind), params=params)

    def search(self, q: str, *, limit: int, kind: str = "", connected: Sequence[str] = ()) -> PageOf[FoundComponent]:
        """``GET P/components`` by words: the actions and triggers of all apps, or only of one ``kind``; those of the
        apps ``connected`` first, by slug."""
        params: Params = {"q": q, "limit": limit, "component_type": kind, "connected": ",".join(connected[:SLUGS])}
        return self.ask(PageOf[FoundComponent], "GET", self.client.path("components"), params=params)

    def find(self, kind: Kind, key: str) -> Component:
        """``GET P/actions/{key}`` (section 4.5). Raises :class:`NotFound`."""
        return self.ask(Component, "GET", self.client.path(kind, key), params={"extensions": True})

    def options(
        self, component: Component, query: OptionsQuery, values: Mapping[str, Any], dynamic_id: str = ""
    ) -> Choices:
        """``POST P/components/configure`` (section 4.6)."""
        body = self.body(component, values, dynamic_id) | {"prop_name": query.prop, "page": query.page}
        if query.query:
            body["query"] = query.query
        if query.context:
            body["prev_context"] = query.context
        path = self.client.path("components", "configure")
        return self.ask(Choices, "POST", path, body=body, timeout=LOOKUP_TIMEOUT_S)

    def reload(self, component: Component, values: Mapping[str, Any], dynamic_id: str = "") -> Reloaded:
        """``POST P/actions/props`` or ``P/triggers/props`` (section 4.7)."""
        path, body = self.client.path(component.kind, "props"), self.body(component, values, dynamic_id)
        return self.ask(Reloaded, "POST", path, body=body, timeout=LOOKUP_TIMEOUT_S)

    def run(self, component: Component, values: Mapping[str, Any], dynamic_id: str = "") -> Outcome:
        """``POST P/actions/run`` (section 4.7a); measures how long it took. Files that it writes are kept."""
        started, body = time.monotonic(), self.body(component, values, dynamic_id)
        body |= {"stash_id": "NEW"} if component.stash else {}
        outcome = self.ask(Outcome, "POST", self.run_path(), body=body, timeout=RUN_TIMEOUT_S)
        return outcome.model_copy(update={"took_ms": round((time.monotonic() - started) * 1000)})

    def past(self, run_id: str) -> Run:
        """``GET P/runs/{id}`` (an extension). Raises :class:`NotFound`."""
        return self.ask(Run, "GET", self.client.path("runs", run_id))

    def upload(self, name: str, content: bytes) -> StashedFile | None:
        """``POST P/file_stash`` (an extension). Raises :class:`Invalid` and :class:`TooLarge`."""
        params: Params = {"external_user_id": self.user_id, "name": name}
        path, timeout = self.client.path("file_stash"), UPLOAD_TIMEOUT_S
        return self.ask_extension(StashedFile, "POST", path, params=params, file=content, timeout=timeout)

    def file(self, file_id: str) -> StashedFile:
        """``GET P/file_stash/{id}`` (an extension): a file with a new link. Raises :class:`NotFound`."""
        return self.ask(StashedFile, "GET", self.client.path("file_stash", file_id))

    def stashed_json(self, file_id: str) -> Any:
        """The content of a JSON file of the stash. Raises :class:`NotFound`, also for one that is too old."""
        return self.call("GET", urlsplit(self.file(file_id).url).path)

    def delete_file(self, file_id: str) -> None:
        """``DELETE P/file_stash/{id}`` (an extension). Raises :class:`NotFound`."""
        self.call("DELETE", self.client.path("file_stash", file_id))

    def run_path(self) -> str:
        """The API path for running an action, for code samples."""
        return self.client.path("actions", "run")

    def body(self, component: Component, values: Mapping[str, Any], dynamic_id: str = "") -> dict[str, Any]:
        """The body of a run, also for code samples."""
        body = {"id": component.key, "external_user_id": self.user_id, "configured_props": dict(values)}
        return body | ({"dynamic_props_id": dynamic_id} if dynamic_id else {})
