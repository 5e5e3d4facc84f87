"""Components for the fake Connect service: a small app of tasks whose props show every type and flag once.

``install`` adds the paths of components, options, fields, runs and their history to a ``FakeConnect``, and the app.
"""

from dataclasses import dataclass, field
from typing import Any

from flask import Response, jsonify, request

PROJECT_PATH = "/v1/connect/proj_Fake1"
ACCOUNT = {"name": "tasks", "type": "app", "app": "tasks", "label": "Account"}
PROJECT = {
    "name": "project_id", "type": "string", "label": "Project", "remoteOptions": True, "useQuery": True,
    "reloadProps": True, "withLabel": True,
}  # fmt: skip
CREATE: list[dict[str, Any]] = [
    ACCOUNT,
    {"name": "intro", "type": "alert", "content": "Tasks are [real](https://docs.example.com/).", "alertType": "info"},
    PROJECT,
    {"name": "title", "type": "string", "label": "Title", "description": "See [the docs](https://docs.example.com/)."},
    {"name": "urgent", "type": "boolean", "label": "Urgent", "optional": True, "default": False},
    {"name": "labels", "type": "string[]", "label": "Labels", "optional": True},
    {"name": "db", "type": "$.service.db"},
]


FILES: list[dict[str, Any]] = [
    ACCOUNT,
    {"name": "file", "type": "string", "format": "file-ref", "label": "File"},
    {"name": "more", "type": "string[]", "format": "file-ref", "label": "More files", "optional": True},
]


@dataclass
class Studio:
    """What the fake knows of components, and what was asked of it."""

    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    projects: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)  # answers of configure, by prop
    reload_error: str = ""
    run_answer: dict[str, Any] = field(default_factory=dict)
    history: bool = True
    refusal: tuple[int, str] | None = None  # what every run is refused with
    refused_fields: dict[str, Any] = field(default_factory=dict)
    configured: list[dict[str, Any]] = field(default_factory=list)
    reloads: list[dict[str, Any]] = field(default_factory=list)
    ran: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # name and content, by id
    takes_files: bool = True

    def add(self, key: str, props: Any, kind: str = "action", **more: Any) -> dict[str, Any]:
        made = {
            "key": key, "name": key.removeprefix("tasks-").replace("-", " ").capitalize(), "version": "1.2.0",
            "description": "Does it. [See the documentation](https://docs.example.com/)", "component_type": kind,
            "configurable_props": props, "annotations": {"readOnlyHint": False},
        } | more  # fmt: skip
        self.components[key] = made
        return made


def install(fake: Any) -> Studio:
    """Teach ``fake`` components and give their studio back."""
    studio = Studio()
    studio.projects = [{"label": f"Project {number}", "value": f"p{number}"} for number in range(1, 201)]
    fake.add_app("tasks", "Tasks", "keys")
    studio.add("tasks-create-task", CREATE)
    studio.add("tasks-list-tasks", [ACCOUNT], annotations={"readOnlyHint": True})
    studio.add("tasks-new-task", [ACCOUNT, {"name": "timer", "type": "$.interface.timer",
                                            "default": {"intervalSeconds": 900}}], kind="source")  # fmt: skip
    studio.add("tasks-task-done", [ACCOUNT, {"name": "http", "type": "$.interface.http"}], kind="source")
    _routes(fake, studio)
    return studio


def _routes(fake: Any, studio: Studio) -> None:
    app = fake.wsgi

    def body() -> dict[str, Any]:
        given = dict(request.json or {})
        token = request.headers["Authorization"].removeprefix("Bearer ")
        assert given["external_user_id"] == fake.tokens[token]["external_user_id"]
        return given

    def listed(kind: str) -> Response:
        q = request.args.get("q", "").lower()
        found = [
            one for one in studio.components.values() if one["component_type"] == kind and q in one["name"].lower()
        ]
        found = [one for one in found if request.args["app"] == "tasks"]
        return jsonify(data=found, page_info={"count": len(found), "total_count": len(found), "end_cursor": ""})

    def found() -> Response:
        q, kind = request.args.get("q", "").lower(), request.args.get("component_type")
        wire = {"trigger": "source"}.get(str(kind), kind)
        ours = [one for one in studio.components.values() if q in one["name"].lower()]
        ours = [one for one in ours if wire in (None, one["component_type"])]
        connected = [f"{slug}-" for slug in request.args.get("connected", "").split(",") if slug]
        ours.sort(key=lambda one: not one["key"].startswith(tuple(connected)))
        first = ours[: int(request.args["limit"])]
        return jsonify(data=first, page_info={"count": len(first), "total_count": len(ours), "end_cursor": ""})

    def one(key: str) -> Response:
        if key not in studio.components:
            return _problem(404, "There is no such component.")
        return jsonify(data=studio.components[key])

    def configure() -> Response:
        given = body()
        studio.configured.append(given)
        answer = studio.options.get(given["prop_name"]) or _projects(studio, given)
        return jsonify({"options": None, "stringOptions": None, "observations": [], "context": None, "errors": []}
                       | answer)  # fmt: skip

    def reload() -> Response:
        given = body()
        studio.reloads.append(given)
        if studio.reload_error:
            return jsonify(observations=[], errors=[studio.reload_error], dynamicProps=None)
        own = studio.components[given["id"]]["configurable_props"]
        project = given["configured_props"]["project_id"]["__lv"]["value"]
        more = [{"name": "due", "type": "string", "label": "Due date", "optional": True}]
        if project == "p7":
            more.append({"name": "code", "type": "integer", "label": "Cost code", "min": 1, "max": 99})
        return jsonify(
            observations=[], errors=[], dynamicProps={"id": f"dyp_{project}", "configurableProps": own + more}
        )

    def run() -> Response:
        given = body()
        if studio.refusal:
            return _problem(*studio.refusal, **studio.refused_fields)
        studio.ran.append(given)
        answer = {
            "exports": {"$summary": "Created task 5"},
            "os": [],
            "ret": {"id": 5, "open": True},
        } | studio.run_answer
        studio.runs.insert(0, {
            "id": f"run_{len(studio.runs)}", "component_key": given["id"], "started_at": "2025-01-01T00:00:00Z",
            "took_ms": 12, "ok": all(line["k"] != "error" for line in answer["os"]),
            "summary": "Created task 5", "error": None,
            "configured_props": given["configured_props"], "dynamic_props_id": given.get("dynamic_props_id"), **answer,
        })  # fmt: skip
        return jsonify(answer)

    def entries(_user: str) -> list[dict[str, Any]]:
        return [_run_entry(run) for run in studio.runs]

    def past(run_id: str) -> Response:
        found = next((one for one in studio.runs if one["id"] == run_id), None)
        return jsonify(data=found) if found and studio.history else _problem(404, "There is no such run.")

    def file(file_id: str) -> dict[str, Any]:
        name, content = studio.files[file_id]
        key = f"1day/proj_Fake1/development/stash_x/u/{file_id}/{name}"
        return {
            "id": file_id,
            "s3_key": key,
            "name": name,
            "size": len(content),
            "get_url": f"{fake.public}/v1/files/t",
        }

    def upload() -> Response:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        assert request.args["external_user_id"] == fake.tokens[token]["external_user_id"]
        if not studio.takes_files:
            return _problem(404, "There is nothing here.")
        file_id = f"file_{len(studio.files) + 1}"
        studio.files[file_id] = (request.args["name"], request.get_data())
        return jsonify(file(file_id))

    def one_file(file_id: str) -> Response:
        if file_id not in studio.files:
            return _problem(404, "There is no such file.")
        if request.method == "DELETE":
            del studio.files[file_id]
            return Response(status=204)
        return jsonify(file(file_id))

    app.add_url_rule(f"{PROJECT_PATH}/file_stash", "upload", upload, methods=["POST"])
    app.add_url_rule(f"{PROJECT_PATH}/file_stash/<file_id>", "one_file", one_file, methods=["GET", "DELETE"])
    for kind, wire in (("actions", "action"), ("triggers", "source")):
        app.add_url_rule(f"{PROJECT_PATH}/{kind}", kind, lambda wire=wire: listed(wire))
        app.add_url_rule(f"{PROJECT_PATH}/{kind}/<path:key>", f"one_{kind}", one)
        app.add_url_rule(f"{PROJECT_PATH}/{kind}/props", f"props_{kind}", reload, methods=["POST"])
    app.add_url_rule(f"{PROJECT_PATH}/components", "found", found)
    app.add_url_rule(f"{PROJECT_PATH}/components/configure", "configure", configure, methods=["POST"])
    app.add_url_rule(f"{PROJECT_PATH}/actions/run", "run", run, methods=["POST"])
    fake.log_books.append(entries)
    app.add_url_rule(f"{PROJECT_PATH}/runs/<run_id>", "past", past)


def _run_entry(run: dict[str, Any]) -> dict[str, Any]:
    """A run as the logs have it."""
    status = "succeeded" if run["ok"] else "waiting" if run.get("status") == "running" else "failed"
    return {
        "kind": "run", "id": run["id"], "at": run["started_at"], "status": status,
        "outcome": run.get("status") or status, "title": run["component_key"], "text": run["error"] or run["summary"],
        "took_ms": run["took_ms"], "app": "tasks", "component_key": run["component_key"], "account_id": None,
        "trigger_id": None, "request": {"configured_props": run["configured_props"]},
        "response": {name: run.get(name) for name in ("exports", "os", "ret")},
    }  # fmt: skip


def _projects(studio: Studio, given: dict[str, Any]) -> dict[str, Any]:
    query, page = given.get("query", "").lower(), given["page"]
    found = [item for item in studio.projects if query in item["label"].lower()]
    context = {"seen": (page + 1) * 30} if (page + 1) * 30 < len(found) else None
    return {"options": found[page * 30 : (page + 1) * 30], "context": context}


def _problem(code: int, sentence: str, **details: str) -> Response:
    found = [{"field": f"configured_props.{name}", "message": message} for name, message in details.items()]
    response = jsonify({"error": sentence} | ({"details": found} if found else {}))
    response.status_code = code
    return response
