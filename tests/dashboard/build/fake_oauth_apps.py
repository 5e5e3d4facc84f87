"""A project's own OAuth clients and app overrides for the fake Connect service (contract "OAuth apps").

``install`` adds their paths to a ``FakeConnect``, whose apps become ready with their first client.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from flask import Flask, Response, jsonify, request

from webapp.kit.clock import iso

CLIENTS = "/v1/connect/proj_Fake1/oauth_apps"
OVERRIDES = "/v1/connect/proj_Fake1/app_overrides"


@dataclass
class Registry:
    """What the fake knows. ``unknown`` are client ids that no provider knows, ``verdict`` what it says of others."""

    fake: Any
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    events_secrets: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    verdict: dict[str, str] = field(default_factory=lambda: {"verdict": "known", "sentence": "It knows this client."})
    refusal: tuple[int, str] | None = None
    refused_field: str = ""
    share_refusal: int = 0

    def add(self, app: str = "slack", client_id: str = "own-id", **use: Any) -> dict[str, Any]:
        """A client."""
        facts = self.app(app)
        oauth_app_id = f"oa_{len(self.clients):06d}x"
        use = {"app_name": facts["name"], "accounts": 0, "shared_with": [], "used_for_new": True,
               "installation_has_one": False} | use  # fmt: skip
        client = {
            **{name: value for name, value in facts.items() if name != "patchbay"}, "id": oauth_app_id,
            "client_id": client_id, "scopes": [], "additional_scopes": [], "patchbay": use,
            "redirect_uri": "https://connect.example.com/callback", "created_at": iso(self.fake.clock()),
        }  # fmt: skip
        self.clients[oauth_app_id] = client
        facts.get("patchbay", {}).update({"ready": True, "connectable": True, "why_not": None})
        return client

    def app(self, slug: str) -> dict[str, Any]:
        return next(app for app in self.fake.apps if app["name_slug"] == slug)

    def checked(self, body: dict[str, Any]) -> Response | None:
        """Why ``body`` is refused, if it is."""
        if self.refusal:
            return _problem(*self.refusal, self.refused_field)
        if body.get("check") and body.get("client_id") in self.unknown:
            return _problem(400, "It does not know this client.", "client_id")
        return None


def install(fake: Any) -> Registry:
    """Answer calls about OAuth clients and overrides, too."""
    registry, app = Registry(fake), cast(Flask, fake.wsgi)

    @app.route(CLIENTS, methods=["GET", "POST"])
    def clients() -> Response:
        if request.method == "GET":
            wanted = request.args.get("app")
            return _page([one for one in registry.clients.values() if wanted in (None, one["name_slug"])])
        body = request.get_json()
        if refused := registry.checked(body):
            return refused
        client = registry.add(body["app"], body["client_id"])
        registry.secrets[client["id"]] = body["client_secret"]
        return jsonify(client | ({"check": registry.verdict} if body.get("check") else {}))

    @app.route(f"{CLIENTS}/<oauth_app_id>", methods=["GET", "PUT", "DELETE"])
    def client(oauth_app_id: str) -> Response:
        known = registry.clients.get(oauth_app_id)
        if known is None:
            return _problem(404, "There is no such OAuth client.")
        if request.method == "DELETE":
            if known["patchbay"]["accounts"]:
                return _problem(409, "One account was connected with this OAuth client.")
            del registry.clients[oauth_app_id]
            return Response(status=204)
        if request.method == "PUT":
            body = request.get_json()
            if refused := registry.checked(known | body):
                return refused
            registry.secrets[oauth_app_id] = body.pop("client_secret", "") or registry.secrets.get(oauth_app_id, "")
            registry.events_secrets[oauth_app_id] = body.pop("events_secret", "")
            check = body.pop("check", False)
            known |= body
            return jsonify(known | ({"check": registry.verdict} if check else {}))
        return jsonify(known)

    @app.post(f"{CLIENTS}/<oauth_app_id>/<any(check, share, events_secret):verb>")
    def care(oauth_app_id: str, verb: str) -> Response:
        if verb == "events_secret":
            events = registry.clients[oauth_app_id]["patchbay"]["events"]
            if events["secret_sent_at"] is None:
                return _problem(409, "The provider has sent nothing yet.")
            events |= {"has_secret": True, "secret_sent_at": None}
            return jsonify(events_secret="canary-sent")
        if verb == "check":
            return jsonify(registry.verdict)
        if registry.share_refusal:
            return _problem(registry.share_refusal, "It cannot be shared.")
        other = registry.add(request.get_json()["app"], registry.clients[oauth_app_id]["client_id"])
        return jsonify(other)

    @app.route(OVERRIDES, methods=["GET", "POST"])
    def overrides() -> Response:
        if request.method == "GET":
            return _page(list(registry.overrides.values()))
        if registry.refusal:
            return _problem(*registry.refusal, "cfmap.region")
        return jsonify(_override(registry, request.get_json(), f"aov_{len(registry.overrides):06d}x"))

    @app.route(f"{OVERRIDES}/<override_id>", methods=["GET", "PUT", "DELETE"])
    def override(override_id: str) -> Response:
        known = registry.overrides.get(override_id)
        if known is None:
            return _problem(404, "There is no such app override.")
        if request.method == "DELETE":
            del registry.overrides[override_id]
            return Response(status=204)
        if request.method == "PUT":
            known |= request.get_json()
        return jsonify(known)

    return registry


def _override(registry: Registry, body: dict[str, Any], override_id: str) -> dict[str, Any]:
    facts = {name: value for name, value in registry.app(body["app"]).items() if name != "patchbay"}
    values = {"oauth_app_id": None, "cfmap": {}} | body | {"id": override_id, "app": facts}
    registry.overrides[override_id] = values
    return values


def _page(items: list[dict[str, Any]]) -> Response:
    return jsonify(data=items, page_info={"count": len(items), "total_count": len(items), "end_cursor": ""})


def _problem(code: int, sentence: str, field: str = "") -> Response:
    details = {"details": [{"field": field, "message": sentence}]} if field else {}
    response = jsonify(error=sentence, **details)
    response.status_code = code
    return response
