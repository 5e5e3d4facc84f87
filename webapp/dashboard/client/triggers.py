"""The part of the Connect API about deployed triggers, as one external user (specification 4.8–4.12 and extensions).

Every call carries that user's Connect token, but for the two that give a signing key away: those need the dashboard's
OAuth client, so whoever makes them has loaded the trigger as its owner first. What a service lacks answers ``None``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models import accounts, triggers
from webapp.dashboard.client.models import deliveries as delivery_shapes
from webapp.dashboard.client.models.accounts import PageOf
from webapp.dashboard.client.models.deliveries import Day, Delivery
from webapp.dashboard.client.models.reading import Json
from webapp.dashboard.client.models.triggers import Endpoint, Event, Trigger, Watch, Workflow
from webapp.dashboard.client.transport import TIMEOUT_S, Params, ServiceDown
from webapp.errors import Invalid, NotFound

T = TypeVar("T")

HOOK_TIMEOUT_S = 60.0  # deploying, pausing and deleting wait for what the app's own provider says


class TriggerClient:
    """Deployed triggers of one external user."""

    def __init__(self, client: ConnectClient, external_user_id: str) -> None:
        self._client, self.user_id = client, external_user_id

    def deploy(self, body: Mapping[str, Any]) -> Trigger:
        """``POST P/triggers/deploy`` (section 4.8); ``body`` lacks the user alone."""
        path = self._client.project_path("triggers", "deploy")
        whole = {"external_user_id": self.user_id, **body}
        return self._one(self._client.as_user(self.user_id, "POST", path, body=whole, timeout=HOOK_TIMEOUT_S))

    def listed(self, *, limit: int, after: str = "") -> PageOf[Trigger]:
        """``GET P/deployed-triggers`` of every emitter; of sources alone where the service knows no ``all``."""
        params: Params = {"limit": limit, "extensions": True, **({"after": after} if after else {})}
        try:
            answer = self._call("GET", params={**params, "emitter_type": "all"})
        except Invalid:
            answer = self._call("GET", params=params)
        return accounts.page_of(_object(answer), triggers.trigger)

    def find(self, trigger_id: str) -> Trigger:
        """``GET P/deployed-triggers/{id}``. Raises :class:`NotFound`."""
        return self._one(self._call("GET", trigger_id, params={"extensions": True}))

    def update(self, trigger_id: str, **changes: Any) -> Trigger:
        """``PUT P/deployed-triggers/{id}`` (section 4.9)."""
        params: Params = {"extensions": True}
        return self._one(self._call("PUT", trigger_id, params=params, body=changes, timeout=HOOK_TIMEOUT_S))

    def delete(self, trigger_id: str, *, ignore_hook_errors: bool = False) -> None:
        """``DELETE P/deployed-triggers/{id}``."""
        params: Params = {"ignore_hook_errors": True} if ignore_hook_errors else {}
        self._call("DELETE", trigger_id, params=params, timeout=HOOK_TIMEOUT_S)

    def endpoints(self, trigger_id: str) -> list[Endpoint]:
        """``GET …/webhooks`` (section 4.12), without keys."""
        return _endpoints(self._call("GET", trigger_id, "webhooks"))

    def set_urls(self, trigger_id: str, urls: Sequence[str]) -> list[Endpoint]:
        """``PUT …/webhooks`` (section 4.11): the whole list."""
        return _endpoints(self._call("PUT", trigger_id, "webhooks", body={"webhook_urls": list(urls)}))

    def reset(self, trigger_id: str, endpoint_id: str) -> None:
        """``POST …/webhooks/{id}/reset_delivery_state``: it is delivered to again."""
        self._call("POST", trigger_id, "webhooks", endpoint_id, "reset_delivery_state", body={})

    def signing_key(self, trigger_id: str, endpoint_id: str) -> str:
        """``GET …/webhooks/{id}`` by OAuth. The caller has found the trigger as this user."""
        return self._by_oauth("GET", trigger_id, endpoint_id)

    def rotate_key(self, trigger_id: str, endpoint_id: str) -> str:
        """``POST …/webhooks/{id}/regenerate_signing_key`` by OAuth, likewise; the new key."""
        return self._by_oauth("POST", trigger_id, endpoint_id, "regenerate_signing_key")

    def workflows(self, trigger_id: str) -> list[Workflow]:
        """``GET …/pipelines``: the workflows that are told; none where the service has none."""
        try:
            answer = _object(self._call("GET", trigger_id, "pipelines", params={"extensions": True}))
        except NotFound:
            return []
        return triggers.workflows(answer)

    def events(self, trigger_id: str, *, n: int, after: str = "", event_id: str = "") -> list[Event]:
        """``GET …/events``, newest first, at most 100: those older than the event ``after``, or one alone."""
        return list(self.counted_events(trigger_id, n=n, after=after, event_id=event_id)[0])

    def counted_events(
        self, trigger_id: str, *, n: int, after: str = "", event_id: str = ""
    ) -> tuple[Sequence[Event], int | None]:
        """The same, and how many events there are in all; ``None`` where the service does not count."""
        asked = {"after": after, "event_id": event_id}
        params: Params = {"n": n, "extensions": True, **{name: value for name, value in asked.items() if value}}
        answer = _object(self._call("GET", trigger_id, "events", params=params))
        found = accounts.page_of(answer, _event)
        return found.items, found.total if "page_info" in answer else None

    def send_test(self, trigger_id: str) -> Event | None:
        """``POST …/test_event`` (an extension)."""
        return self._extension("POST", trigger_id, "test_event", read=lambda data: _event(_data(data)), body={})

    def deliveries(self, trigger_id: str, wanted: Mapping[str, str | int], *, limit: int) -> PageOf[Delivery] | None:
        """``GET …/deliveries`` (an extension): ``wanted`` has status, since, until, event_id and after."""
        params: Params = {"limit": limit, **{name: value for name, value in wanted.items() if value != ""}}
        return self._extension(
            "GET", trigger_id, "deliveries", read=lambda data: accounts.page_of(data, delivery_shapes.delivery),
            params=params,
        )  # fmt: skip

    def delivery(self, trigger_id: str, delivery_id: str) -> Delivery:
        """``GET …/deliveries/{id}`` (an extension), whole. Raises :class:`NotFound`."""
        return delivery_shapes.delivery(_data(_object(self._call("GET", trigger_id, "deliveries", delivery_id))))

    def resend(self, trigger_id: str, delivery_id: str) -> Delivery:
        """``POST …/deliveries/{id}/resend`` (an extension): the same event id, signed anew."""
        answer = self._call("POST", trigger_id, "deliveries", delivery_id, "resend", body={})
        return delivery_shapes.delivery(_data(_object(answer)))

    def resend_failed(self, trigger_id: str, *, since: int, dry_run: bool) -> int:
        """``POST …/deliveries/resend`` (an extension): everything failed since then; how many that is."""
        body = {"since": since, "status": "failed", "dry_run": dry_run}
        count = _object(self._call("POST", trigger_id, "deliveries", "resend", body=body)).get("count")
        return count if isinstance(count, int) else 0

    def day(self, trigger_id: str) -> Day | None:
        """``GET …/stats`` (an extension): the last 24 hours."""
        return self._extension("GET", trigger_id, "stats", read=lambda data: delivery_shapes.day(_data(data)))

    def logs(self, trigger_id: str, *, limit: int, after: str = "") -> PageOf[Watch] | None:
        """``GET …/logs`` (an extension): its runs, newest first."""
        params: Params = {"limit": limit, **({"after": after} if after else {})}
        return self._extension(
            "GET", trigger_id, "logs", read=lambda data: accounts.page_of(data, triggers.watch), params=params
        )

    def _by_oauth(self, method: str, trigger_id: str, *parts: str) -> str:
        path = self._client.project_path("deployed-triggers", trigger_id, "webhooks", *parts)
        answer = self._client.as_project(
            method, path, params={"external_user_id": self.user_id}, body={} if method == "POST" else None
        )
        return triggers.endpoint(_data(_object(answer))).key

    def _one(self, answer: object) -> Trigger:
        return triggers.trigger(_data(_object(answer)))

    def _call(
        self, method: str, *parts: str, params: Params | None = None, body: Any = None, timeout: float = TIMEOUT_S
    ) -> Any:
        path = self._client.project_path("deployed-triggers", *parts)
        whole: Params = {"external_user_id": self.user_id, **(params or {})}
        return self._client.as_user(self.user_id, method, path, params=whole, body=body, timeout=timeout)

    def _extension(
        self, method: str, *parts: str, read: Callable[[Json], T], params: Params | None = None, body: Any = None
    ) -> T | None:
        try:
            return read(_object(self._call(method, *parts, params=params, body=body)))
        except NotFound:
            return None


def _event(data: Json) -> Event:
    return triggers.event(data)


def _endpoints(answer: object) -> list[Endpoint]:
    found = _object(answer).get("webhooks")
    items = found if isinstance(found, list) else []
    return [triggers.endpoint(item) for item in items if isinstance(item, dict)]


def _data(answer: Json) -> Json:
    found = answer.get("data")
    return found if isinstance(found, dict) else answer


def _object(answer: object) -> Json:
    if not isinstance(answer, dict):
        raise ServiceDown("The Connect service answered something that is not its API.")
    return answer
