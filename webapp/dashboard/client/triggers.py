"""The deployed triggers of one external user (contract "Deployed triggers", "Extensions").

The two calls that return a signing key use the dashboard's OAuth client, so the caller has loaded the trigger as its
user first. Methods for an extension return ``None`` if the service does not have it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from webapp.dashboard.client.connect import Call, UserCalls, object_of, read
from webapp.dashboard.client.models.deliveries import Day, DayOf, Delivery, Endpoint, Endpoints, Workflow, Workflows
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.models.triggers import Event, Trigger, TriggerView
from webapp.dashboard.client.transport import Params
from webapp.errors import PatchbayError

HOOK_TIMEOUT_S = 60.0  # deploying, pausing and deleting wait for the app's provider


class TriggerClient(UserCalls):
    """Deployed triggers of one external user; their list is in :mod:`.overview`."""

    def call(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call with the external user's id in addition to the token."""
        call["params"] = {"external_user_id": self.user_id, **call.get("params", {})}
        return super().call(method, path, **call)

    def deploy(self, body: Mapping[str, Any]) -> Trigger:
        """``POST P/triggers/deploy`` (section 4.8); ``body`` has everything but the user."""
        path, body = self.client.path("triggers", "deploy"), {"external_user_id": self.user_id, **body}
        return read(Trigger, super().call("POST", path, body=body, timeout=HOOK_TIMEOUT_S))

    def find(self, trigger_id: str) -> Trigger:
        """``GET P/deployed-triggers/{id}``. Raises :class:`NotFound`."""
        return self.ask(Trigger, "GET", self._path(trigger_id), params={"extensions": True})

    def view(self, trigger_id: str, newest: Params) -> TriggerView:
        """``GET …/overview`` (an extension), or else its parts, without logs, by single calls.

        ``newest`` says how many of its ``logs`` come with it, and of which ``kind``. Raises :class:`NotFound`.
        """
        view = self.ask_extension(TriggerView, "GET", self._path(trigger_id, "overview"), params=newest)
        if view is not None:
            return view
        trigger = self.find(trigger_id)
        try:
            day = self.day(trigger_id)
        except PatchbayError:
            day = None
        webhooks, workflows = self.endpoints(trigger_id), tuple(self.workflows(trigger_id))
        return TriggerView.model_construct(trigger=trigger, webhooks=webhooks, workflows=workflows, stats=day)

    def days(self, trigger_ids: Sequence[str]) -> dict[str, DayOf]:
        """``GET P/trigger-stats`` (an extension): the last 24 hours of each trigger, with failures."""
        if not trigger_ids:
            return {}
        params: Params = {"ids": ",".join(trigger_ids)}
        days = self.ask_extension(PageOf[DayOf], "GET", self.client.path("trigger-stats"), params=params)
        if days is None:
            days = PageOf[DayOf].model_construct(items=tuple(map(self._day_of, trigger_ids)))
        return {day.id: day for day in days.items}

    def update(self, trigger_id: str, **changes: Any) -> Trigger:
        """``PUT P/deployed-triggers/{id}`` (section 4.9)."""
        params: Params = {"extensions": True}
        return self.ask(Trigger, "PUT", self._path(trigger_id), params=params, body=changes, timeout=HOOK_TIMEOUT_S)

    def delete(self, trigger_id: str, *, ignore_hook_errors: bool = False) -> None:
        """``DELETE P/deployed-triggers/{id}``."""
        params: Params = {"ignore_hook_errors": ignore_hook_errors}
        self.call("DELETE", self._path(trigger_id), params=params, timeout=HOOK_TIMEOUT_S)

    def endpoints(self, trigger_id: str) -> tuple[Endpoint, ...]:
        """``GET …/webhooks`` (section 4.12), without keys."""
        return self.ask(Endpoints, "GET", self._path(trigger_id, "webhooks")).webhooks

    def set_urls(self, trigger_id: str, urls: Sequence[str]) -> tuple[Endpoint, ...]:
        """``PUT …/webhooks`` (section 4.11): the whole list."""
        path, body = self._path(trigger_id, "webhooks"), {"webhook_urls": list(urls)}
        return self.ask(Endpoints, "PUT", path, body=body).webhooks

    def reset(self, trigger_id: str, endpoint_id: str) -> None:
        """``POST …/webhooks/{id}/reset_delivery_state``: resume deliveries to the webhook."""
        self.call("POST", self._path(trigger_id, "webhooks", endpoint_id, "reset_delivery_state"), body={})

    def signing_key(self, trigger_id: str, endpoint_id: str) -> str:
        """``GET …/webhooks/{id}`` by OAuth. The caller has found the trigger as this user."""
        path, params = self._path(trigger_id, "webhooks", endpoint_id), {"external_user_id": self.user_id}
        return read(Endpoint, self.client.as_project("GET", path, params=params)).key

    def rotate_key(self, trigger_id: str, endpoint_id: str) -> str:
        """``POST …/webhooks/{id}/regenerate_signing_key`` by OAuth, likewise; the new key."""
        path = self._path(trigger_id, "webhooks", endpoint_id, "regenerate_signing_key")
        answer = self.client.as_project("POST", path, params={"external_user_id": self.user_id}, body={})
        return read(Endpoint, answer).key

    def workflows(self, trigger_id: str) -> list[Workflow]:
        """``GET …/pipelines``: the workflows that get its events; empty if the service has none."""
        path, params = self._path(trigger_id, "pipelines"), {"extensions": True}
        workflows = self.ask_extension(Workflows, "GET", path, params=params)
        return workflows.known() if workflows else []

    def set_workflows(self, trigger_id: str, workflow_ids: Sequence[str]) -> None:
        """``PUT …/pipelines``: replace the workflows that get its events."""
        self.call("PUT", self._path(trigger_id, "pipelines"), body={"workflow_ids": list(workflow_ids)})

    def events(self, trigger_id: str, *, n: int, after: str = "", event_id: str = "") -> Sequence[Event]:
        """``GET …/events``, newest first, at most 100: those older than the event ``after``, or only one."""
        params: Params = {"n": n, "after": after, "event_id": event_id}
        return self.ask(PageOf[Event], "GET", self._path(trigger_id, "events"), params=params).items

    def send_test(self, trigger_id: str) -> Event | None:
        """``POST …/test_event`` (an extension)."""
        return self.ask_extension(Event, "POST", self._path(trigger_id, "test_event"), body={})

    def resend(self, trigger_id: str, delivery_id: str) -> Delivery:
        """``POST …/deliveries/{id}/resend`` (an extension): the same event id with a new signature."""
        return self.ask(Delivery, "POST", self._path(trigger_id, "deliveries", delivery_id, "resend"), body={})

    def resend_failed(self, trigger_id: str, *, since: int, dry_run: bool) -> int:
        """``POST …/deliveries/resend`` (an extension): resend what failed since then; the number of deliveries."""
        body = {"since": since, "status": "failed", "dry_run": dry_run}
        count = object_of(self.call("POST", self._path(trigger_id, "deliveries", "resend"), body=body)).get("count")
        return count if isinstance(count, int) else 0

    def day(self, trigger_id: str) -> Day | None:
        """``GET …/stats`` (an extension): the last 24 hours."""
        return self.ask_extension(Day, "GET", self._path(trigger_id, "stats"))

    def _day_of(self, trigger_id: str) -> DayOf:
        day, webhooks = self.day(trigger_id), self.endpoints(trigger_id)
        failing = tuple(webhook for webhook in webhooks if webhook.failing)
        return DayOf.model_construct(**(dict(day) if day else {}), id=trigger_id, failing=failing)

    def _path(self, *parts: str) -> str:
        return self.client.path("deployed-triggers", *parts)
