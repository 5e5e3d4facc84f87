"""Deployed triggers for the fake Connect service, with events, deliveries and logs that tests put there by hand.

``install`` adds the paths of contract "Deployed triggers", "Extensions" to a ``FakeConnect``. Like the real thing
it knows whose a trigger is, and gives signing keys to OAuth tokens alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Response, jsonify, request

from webapp.kit.clock import HOUR, MINUTE, SECOND, iso

PROJECT_PATH = "/v1/connect/proj_Fake1"
TRIGGERS = f"{PROJECT_PATH}/deployed-triggers"


@dataclass
class Watchtower:
    """What the fake knows of triggers, and what was asked of it. ``refusal`` is what the next change answers."""

    fake: Any
    triggers: dict[str, dict[str, Any]] = field(default_factory=dict)
    endpoints: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    events: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    deliveries: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    runs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    workflows: dict[str, list[str]] = field(default_factory=dict)
    flow_state: str = "happy"
    statistics: dict[str, Any] = field(default_factory=dict)  # of every address, instead of the usual ones
    refusal: tuple[int, str] | None = None
    hook_error: str = ""  # what deleting is refused with, until hook errors are ignored
    deployed: list[dict[str, Any]] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    resent: list[Any] = field(default_factory=list)

    def add(self, user: str, key: str = "tasks-new-task", **more: Any) -> dict[str, Any]:
        """A deployed trigger."""
        number, now = len(self.triggers), self.fake.clock()
        made = {
            "id": f"dc_{number:06d}x", "owner_id": "exu_1", "component_id": "sc_1", "component_key": key,
            "configurable_props": [], "configured_props": {}, "active": True, "name": f"New task {number}",
            "name_slug": f"new-task-{number}", "type": "DeployedComponent", "callback_observations": None,
            "created_at": now - HOUR + number, "updated_at": now - HOUR + number, "emit_on_deploy": True,
            "version": "1.2.0", "app": "tasks", "emitter_type": "source", "switched_off": None, "last_event_at": None,
            "next_run_at": now + 3 * MINUTE, "schedule": {"intervalSeconds": 900}, "instant": False, "accounts": [],
            "waits": None, "last_error": None, "user": user,
        } | more  # fmt: skip
        self.triggers[made["id"]] = made
        return made

    def add_endpoint(self, trigger_id: str, url: str, state: str = "happy", **more: Any) -> dict[str, Any]:
        """A webhook URL of it."""
        listed = self.endpoints.setdefault(trigger_id, [])
        made = {
            "id": f"wh_{len(listed)}{trigger_id[-3:]}", "url": url, "signing_key_set": True,
            "key": f"whsec_canary{len(listed)}", "active": state != "deactivated",
            "delivery_state": {"state": state, "since": (self.fake.clock() - 2 * HOUR) // SECOND, "last_error": None,
                               "consecutive_failures": 0, "sheds": 0} | more,
        }  # fmt: skip
        listed.append(made)
        return made

    def add_event(self, trigger_id: str, body: Any, summary: str) -> dict[str, Any]:
        """An event; newer than those before."""
        listed = self.events.setdefault(trigger_id, [])
        made = {"e": body, "k": "emit", "ts": self.fake.clock(), "id": f"evt_{len(listed)}", "sum": summary}
        listed.insert(0, made)
        return made

    def add_delivery(self, trigger_id: str, status: str, **more: Any) -> dict[str, Any]:
        """A delivery; newer than those before."""
        listed = self.deliveries.setdefault(trigger_id, [])
        now = self.fake.clock()
        made = {
            "id": f"dlv_{len(listed)}", "event_id": "evt_0", "webhook_id": "wh_0", "url": "https://hooks.example.com/…",
            "status": status, "attempt": 1, "created_at": now - MINUTE, "next_attempt_at": None,
            "last_attempt_at": now - MINUTE, "response_status": 200 if status == "delivered" else 503, "error": None,
            "took_ms": 164, "summary": "New task: Paint", "request": {"url": "https://hooks.example.com/…",
            "headers": {"webhook-id": "evt_0", "x-pd-signature": "t=1,v1=ab"}, "body": '{"id": 5}'},
            "attempts": [{"n": 1, "at": now - MINUTE, "took_ms": 164, "response_status": 503, "error": None,
                          "response_headers": {"content-type": "text/plain"}, "response_body": "<b>down</b>"}],
        } | more  # fmt: skip
        listed.insert(0, made)
        return made

    def add_run(self, trigger_id: str, cause: str = "timer", emitted: int = 0, **more: Any) -> dict[str, Any]:
        """A run of it; older than those before."""
        listed = self.runs.setdefault(trigger_id, [])
        at = self.fake.clock() - len(listed) * MINUTE
        made = {"id": f"tr_{len(listed)}", "at": at, "cause": cause, "ok": True, "took_ms": 9, "emitted": emitted,
                "error": None, "os": []} | more  # fmt: skip
        listed.append(made)
        return made

    def entries(self, user: str) -> list[dict[str, Any]]:
        """What the logs of a user have of all that."""
        return [
            entry | {"trigger_id": trigger["id"], "app": trigger["app"], "account_id": None}
            for trigger in self.triggers.values()
            if trigger["user"] == user
            for entry in (
                *map(_event_entry, self.events.get(trigger["id"], ())),
                *map(_delivery_entry, self.deliveries.get(trigger["id"], ())),
                *(_run_entry(trigger, run) for run in self.runs.get(trigger["id"], ())),
            )
        ]


def install(fake: Any) -> Watchtower:
    """Teach ``fake`` deployed triggers and give what it knows of them back."""
    tower = Watchtower(fake)
    fake.log_books.append(tower.entries)
    _Routes(fake, tower).add()
    return tower


class _Routes:
    """The paths. Every one of them finds the trigger through its owner first."""

    def __init__(self, fake: Any, tower: Watchtower) -> None:
        self.fake, self.tower = fake, tower

    def add(self) -> None:
        app = self.fake.wsgi
        app.before_request_funcs.setdefault(None, []).insert(0, self.keep_oauth_in)
        app.register_error_handler(_Absent, lambda _: _problem(404, "There is no such trigger."))
        app.add_url_rule(f"{PROJECT_PATH}/triggers/deploy", "deploy", self.deploy, methods=["POST"])
        app.add_url_rule(TRIGGERS, "deployed", self.listed)
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>", "deployed_one", self.one, methods=["GET", "PUT", "DELETE"])
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/webhooks", "hooks", self.webhooks, methods=["GET", "PUT"])
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/webhooks/<hook_id>", "hook", self.webhook)
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/webhooks/<hook_id>/<verb>", "verb", self.webhook, methods=["POST"])
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/pipelines", "pipelines", self.pipelines)
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/events", "events", self.events)
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/test_event", "test_event", self.test_event, methods=["POST"])
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/deliveries/resend", "again", self.resend_many, methods=["POST"])
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/deliveries/<delivery_id>/resend", "resend", self.resend,
                         methods=["POST"])  # fmt: skip
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/stats", "stats", self.stats)
        app.add_url_rule(f"{TRIGGERS}/<trigger_id>/overview", "overview", self.overview)
        app.add_url_rule(f"{PROJECT_PATH}/trigger-stats", "all_stats", self.all_stats)

    def keep_oauth_in(self) -> None:
        """Let an OAuth token through where the fake knows only Connect tokens, to the webhooks alone."""
        if self.bearer() in self.fake.oauth and "/webhooks/" in request.path:
            self.fake.tokens[self.bearer()] = {"external_user_id": request.args["external_user_id"]}

    def bearer(self) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def user(self) -> str:
        return str(self.fake.tokens[self.bearer()]["external_user_id"])

    def own(self, trigger_id: str) -> dict[str, Any]:
        found = self.tower.triggers.get(trigger_id)
        if found is None or found["user"] != self.user():
            raise _Absent
        return found

    def shown(self, found: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in found.items() if name != "user"}

    def deploy(self) -> Response:
        body = dict(request.json or {})
        assert body["external_user_id"] == self.user()
        if self.tower.refusal:
            return _problem(*self.tower.refusal)
        if len(body.get("name", "")) > 200:
            return _refused("name", "Use 1 to 200 printable characters.")
        if len(body.get("webhook_url", "")) > 2_000:
            return _refused("webhook_url", "An address can have at most 2,000 characters.")
        self.tower.deployed.append(body)
        made = self.tower.add(self.user(), body["id"], name="New task", configured_props=body["configured_props"])
        answer = self.shown(made)
        if body.get("webhook_url"):
            answer["webhook_signing_key"] = self.tower.add_endpoint(made["id"], body["webhook_url"])["key"]
        return jsonify(data=answer)

    def listed(self) -> Response:
        assert request.args["external_user_id"] == self.user()
        kind = request.args.get("emitter_type", "source")
        found = [one for one in self.tower.triggers.values() if one["user"] == self.user()]
        return _page([self.shown(one) for one in found if kind in ("all", one["emitter_type"])])

    def one(self, trigger_id: str) -> Response:
        found = self.own(trigger_id)
        if request.method == "GET":
            return jsonify(data=self.shown(found))
        if self.tower.refusal:
            return _problem(*self.tower.refusal)
        if request.method == "DELETE":
            if self.tower.hook_error and request.args.get("ignore_hook_errors") != "true":
                return _problem(422, self.tower.hook_error)
            del self.tower.triggers[trigger_id]
            return Response(status=204)
        body = dict(request.json or {})
        self.tower.updates.append(body)
        found.update({name: body[name] for name in ("active", "name", "emit_on_deploy") if name in body})
        if body.get("active"):
            found["switched_off"] = None
        return jsonify(data=self.shown(found))

    def webhooks(self, trigger_id: str) -> Response:
        self.own(trigger_id)
        known = {one["url"]: one for one in self.tower.endpoints.get(trigger_id, [])}
        if request.method == "PUT":
            urls = (request.json or {})["webhook_urls"]
            if any("refused" in url for url in urls):
                return _refused("webhook_urls", "That address cannot be used.")
            self.tower.endpoints[trigger_id] = [known[url] for url in urls if url in known]
            for url in urls:
                if url not in known:
                    self.tower.add_endpoint(trigger_id, url)
        found = self.tower.endpoints.get(trigger_id, [])
        return jsonify(webhook_urls=[one["url"] for one in found], webhooks=[self.hook(one) for one in found])

    def webhook(self, trigger_id: str, hook_id: str, verb: str = "") -> Response:
        self.own(trigger_id)
        found = next(one for one in self.tower.endpoints[trigger_id] if one["id"] == hook_id)
        if verb == "regenerate_signing_key":
            found["key"] = "whsec_fresh"
        elif verb == "reset_delivery_state":
            found["active"], found["delivery_state"]["state"] = True, "happy"
        return jsonify(data=self.hook(found))

    def hook(self, found: dict[str, Any]) -> dict[str, Any]:
        shown = {name: value for name, value in found.items() if name != "key"}
        return shown | ({"signing_key": found["key"]} if self.bearer() in self.fake.oauth else {})

    def pipelines(self, trigger_id: str) -> Response:
        self.own(trigger_id)
        ids = self.tower.workflows.get(trigger_id, [])
        if not self.fake.extensions:
            return jsonify(workflow_ids=ids)
        state = {"state": self.tower.flow_state, "since": 0, "last_error": None, "consecutive_failures": 0, "sheds": 0}
        flows = [{"id": one, "name": f"Flow {one}", "active": True, "delivery_state": state} for one in ids]
        return jsonify(workflow_ids=ids, workflows=flows)

    def events(self, trigger_id: str) -> Response:
        self.own(trigger_id)
        found, args = self.tower.events.get(trigger_id, []), request.args
        if args.get("event_id"):
            found = [one for one in found if one["id"] == args["event_id"]]
        if args.get("after"):
            found = found[[one["id"] for one in found].index(args["after"]) + 1 :]
        return jsonify(data=found[: int(args["n"])])

    def test_event(self, trigger_id: str) -> Response:
        self.own(trigger_id)
        if self.tower.refusal:
            return _problem(*self.tower.refusal)
        return jsonify(data=self.tower.add_event(trigger_id, {"test": True}, "Test event"))

    def resend(self, trigger_id: str, delivery_id: str) -> Response:
        self.own(trigger_id)
        self.tower.resent.append(delivery_id)
        return jsonify(data=next(one for one in self.tower.deliveries[trigger_id] if one["id"] == delivery_id))

    def resend_many(self, trigger_id: str) -> Response:
        self.own(trigger_id)
        body = dict(request.json or {})
        assert body["status"] == "failed"
        found = [one for one in self.tower.deliveries.get(trigger_id, []) if one["status"] == "failed"]
        if not body["dry_run"]:
            self.tower.resent.append(body)
        return jsonify(count=sum(one["created_at"] >= body["since"] for one in found))

    def overview(self, trigger_id: str) -> Response:
        """What the other calls say, in one."""
        own = self.own(trigger_id)
        if not self.fake.extensions:
            raise _Absent
        webhooks = self.webhooks(trigger_id).get_json()["webhooks"]
        for hook in webhooks:
            arrived = self.fake.clock() - 2 * MINUTE if hook["delivery_state"]["state"] == "happy" else None
            hook |= {"last_success_at": arrived, "median_ms": 165, "next_attempt_at": None} | self.tower.statistics
        workflows = self.pipelines(trigger_id).get_json()["workflows"]
        shown = {"trigger": self.shown(own), "webhooks": webhooks, "workflows": workflows}
        if "logs" in request.args:
            shown["logs"] = self.logs(trigger_id, request.args)
        return jsonify(data=shown | {"stats": self.stats(trigger_id).get_json()["data"]})

    def logs(self, trigger_id: str, asked: Mapping[str, str]) -> Any:
        """The page of its logs that an overview is asked for, as their own list has it."""
        query = {**asked, "id": trigger_id, "limit": asked["logs"]}
        with self.fake.wsgi.test_request_context(query_string=query, headers=dict(request.headers)):
            return self.fake.wsgi.view_functions["log_list"]().get_json()

    def all_stats(self) -> Response:
        if not self.fake.extensions:
            raise _Absent
        days = []
        for trigger_id in request.args["ids"].split(","):
            failing = [self.hook(one) for one in self.tower.endpoints.get(trigger_id, [])]
            failing = [hook for hook in failing if hook["delivery_state"]["state"] != "happy"]
            days.append({"id": trigger_id, "failing": failing, **self.stats(trigger_id).get_json()["data"]})
        return jsonify(data=days)

    def stats(self, trigger_id: str) -> Response:
        self.own(trigger_id)
        found = self.tower.deliveries.get(trigger_id, [])
        counts = {name: sum(one["status"] == name for one in found) for name in ("delivered", "failed", "waiting")}
        start = self.fake.clock() - 24 * HOUR
        hours = [{"start": start + hour * HOUR, "delivered": 0, "failed": 0, "waiting": 0} for hour in range(23)]
        hours.append({"start": start + 23 * HOUR, **counts})
        events = len(self.tower.events.get(trigger_id, []))
        return jsonify(data={"hours": hours, **counts, "events": events, "last_event_at": None, "last_error": None})


class _Absent(Exception):
    """Somebody else's, or none."""


def _event_entry(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "event", "id": event["id"], "event_id": event["id"], "at": iso(event["ts"]), "status": "succeeded",
        "outcome": event["k"], "title": event["sum"], "response": {"event": event["e"]},
    }  # fmt: skip


def _delivery_entry(delivery: dict[str, Any]) -> dict[str, Any]:
    """As the service makes it of the table."""
    ended = delivery["status"] != "waiting"
    return {name: delivery[name] for name in ("id", "event_id", "took_ms", "attempt", "request", "attempts")} | {
        "kind": "delivery", "at": iso(delivery["created_at"]), "text": delivery["error"],
        "status": {"delivered": "succeeded"}.get(delivery["status"], delivery["status"]),
        "outcome": str(delivery["response_status"] or delivery["status"]) if ended else "waiting",
        "title": f"{delivery['summary']} → {delivery['url']}",
        "next_attempt_at": delivery["next_attempt_at"] and iso(delivery["next_attempt_at"]),
    }  # fmt: skip


def _run_entry(trigger: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "run", "id": run["id"], "at": iso(run["at"]), "status": "succeeded" if run["ok"] else "failed",
        "outcome": run["cause"], "title": trigger["name"], "text": run["error"] or f"{run['emitted']} events",
        "took_ms": run["took_ms"], "emitted": run["emitted"], "response": {"os": run["os"]},
    }  # fmt: skip


def _page(found: list[dict[str, Any]]) -> Response:
    first = int(request.args.get("after") or 0)
    limit = int(request.args.get("limit", request.args.get("deliveries", 20)))
    items, rest = found[first : first + limit], len(found) > first + limit
    info = {"count": len(items), "total_count": len(found), "end_cursor": str(first + limit) if rest else ""}
    return jsonify(data=items, page_info=info)


def _refused(name: str, why: str) -> Response:
    response = jsonify(error=f"{name} is not valid: {why}", details=[{"field": name, "message": why}])
    response.status_code = 400
    return response


def _problem(code: int, sentence: str) -> Response:
    response = jsonify(error=sentence)
    response.status_code = code
    return response
