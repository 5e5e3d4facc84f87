"""Serves ``/openapi.json``, and the same as a page at ``/docs/api``, without scripts.

Neither needs a token; both are generated with their first request. The example of an operation is shown as a shell
command, in which ``$NAMES`` are values of the installation; :data:`VARIABLES` says where each comes from.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson
from flask import Blueprint, Flask, Response, render_template
from jinja2.runtime import Undefined
from markupsafe import Markup, escape

from webapp import content_security_policies
from webapp.kit import assets, compression, templates
from webapp.service.api.base.operations import Operation
from webapp.service.api.reference import openapi
from webapp.service.api.reference.openapi import SCOPES, STATUSES
from webapp.service.domain.base.rate_limits import LIMITS
from webapp.service.domain.base.service import Service

VARIABLES: Mapping[str, str] = {
    "TOKEN": "an access token of your OAuth client",
    "CTOK": "a Connect token",
    "CLIENT_ID": "the id of your OAuth client",
    "CLIENT_SECRET": "its secret",
    "PROJECT_ID": "a project's id",
    "OTHER_PROJECT_ID": "another project's id",
    "ACCOUNT_ID": "the id of an account of the user",
    "OTHER_ACCOUNT_ID": "the id of another account of the user",
    "CATEGORY_ID": "the id of an app category",
    "OAUTH_APP_ID": "the id of an OAuth client of the project",
    "GOOGLE_OAUTH_APP_ID": "the id of one for an app of Google",
    "NOTION_OAUTH_APP_ID": "the id of one for Notion, which has sent its token",
    "SANDBOX_OAUTH_APP_ID": "the id of one for the sandbox",
    "APP_OVERRIDE_ID": "the id of an app override",
    "RUN_ID": "the id of a run",
    "AGENT_ID": "the id of an agent of the user",
    "APPROVAL_ID": "the id of a call that waits for the user's yes",
    "OTHER_APPROVAL_ID": "the id of another",
    "TRIGGER_ID": "the id of a deployed trigger of the user",
    "OTHER_TRIGGER_ID": "the id of another deployed trigger of the user",
    "WEBHOOK_ID": "the id of a webhook of the trigger",
    "GENERAL_WEBHOOK_ID": "the id of a general webhook",
    "GENERAL_WEBHOOK_TO_DELETE_ID": "the id of a general webhook that is to go",
    "DELIVERY_ID": "the id of a delivery of the trigger",
    "S3_KEY": "the key of a stashed file",
    "FILE_ID": "the id of a stashed file",
    "FILE_TO_DELETE_ID": "the id of one that is to go",
    "TICKET": "the last part of a file's link",
    "UPLOAD_TICKET": "the last part of the address that takes an announced file",
    "LOGIN_ID": "the id of a person who signs in",
    "OTHER_LOGIN_ID": "the id of another person",
    "LOGIN_TO_DELETE_ID": "the id of a person who is to go",
    "INVITATION_ID": "the id of an invitation",
    "WORKFLOW_ID": "the id of a workflow",
    "WORKFLOW_TO_DELETE_ID": "the id of a workflow that is to go",
    "INVITATION_TO_DELETE_ID": "the id of an invitation that is to be withdrawn",
    "OTHER_CLIENT_ID": "the id of another OAuth client",
    "CLIENT_TO_DELETE_ID": "the id of an OAuth client that is to go",
    "IMPORTED_APP": "the slug of an app that was imported",
    "EXTENDED_APP": "the slug of an app whose whole API was added",
    "PIECE_ID": "the id of an integration",
    "READY_PIECE_ID": "the id of one that waits to be confirmed",
    "PIECE_TO_STOP_ID": "the id of another that waits",
    "PIECE_TO_DELETE_ID": "the id of one that is to go",
    "SANDBOX_KEY": "an API key of the sandbox, which lists them at /keys",
    "TASK_64": "the address of a task, /api/tasks/{id}, in URL-safe base64",
    "SINCE": "a Unix time in seconds",
    "UNTIL": "a later one",
}
NAME = "api_reference"
LIMIT_WORDS = {
    "tokens": "Create Connect token, for each external user",
    "accounts": "Account management: GET and DELETE of accounts",
    "tools": "List tools: GET of components, actions and triggers",
    "executions": "Tool executions: configure, props and run together",
    "proxy": "Proxy",
}


def curl(operation: Operation) -> str:
    """The example of ``operation``, for a shell that has ``$NAMES`` and ``$PATCHBAY`` (the service's address) set."""
    example, method = operation.example, operation.method
    values = {parameter.name: parameter.example for parameter in operation.path_parameters} | dict(example.path)
    path = re.sub(r"\{(\w+)\}", lambda match: values[match[1]], operation.address)
    query = "&".join(f"{name}={quote(value, safe='$')}" for name, value in example.query.items())
    lines = ["curl" if method == "GET" else f"curl -X {method}", f'"$PATCHBAY{path}{"?" + query if query else ""}"']
    if not operation.public:
        lines.append('-H "Authorization: Bearer $TOKEN"')
    if operation.in_project:
        lines.append('-H "x-pd-environment: development"')
    lines += [f'-H "{name}: {value}"' for name, value in example.headers.items()]
    if example.body is not None:
        lines += ['-H "Content-Type: application/json"', f"-d @- <<JSON\n{_here_document(example.body)}\nJSON"]
    if example.file:
        lines += ['-H "Content-Type: application/octet-stream"', f"--data-binary '{example.file}'"]
    return " \\\n  ".join(lines)


def _here_document(body: Any) -> str:
    """JSON as a here-document, in which the shell expands ``$NAMES``."""
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    return text.replace("\\\\", "\\\\\\\\").replace("`", "\\`")


def register(app: Flask, service: Service, operations: Sequence[Operation]) -> None:
    """Serve the description of ``operations`` from ``app``."""
    templates.prepare(app.jinja_env)
    blueprint = Blueprint(NAME, __name__)

    @functools.cache
    def described() -> bytes:
        return orjson.dumps(openapi.document(operations, service.settings.public_url))

    @functools.cache
    def page() -> bytes:
        document = orjson.loads(described())
        text = render_template(
            "docs/api.html",
            document=document,
            groups=_groups(operations, document),
            variables=VARIABLES,
            objects=_objects(operations, document),
            statuses=STATUSES,
            scopes=SCOPES,
            limits=[(LIMIT_WORDS[name], *limit) for name, limit in LIMITS.items()],
            public_url=service.settings.public_url,
            marked=_marked,
            asset=assets.asset_url,
            csrf_token=Undefined(),  # the dashboard's, which would set its session cookie here
        )
        return text.encode()

    @blueprint.get("/openapi.json")
    def description() -> Response:
        return compression.answer(described(), "application/json")

    @blueprint.get("/docs/api")
    def reference() -> Response:
        answer = compression.answer(page(), "text/html")
        answer.headers["Content-Security-Policy"] = content_security_policies.API_REFERENCE
        return answer

    app.register_blueprint(blueprint)


def _groups(
    operations: Sequence[Operation], document: Mapping[str, Any]
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The operations by group as the page shows them, with a description of each group."""
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for operation in operations:
        groups[operation.group.name].append(_shown(operation, document))
    return [(tag["name"], tag["description"], groups[tag["name"]]) for tag in document["tags"]]


def _shown(operation: Operation, document: Mapping[str, Any]) -> dict[str, Any]:
    described = document["paths"][operation.address][operation.method.lower()]
    content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    responses = described["responses"]
    code, success = next((code, response) for code, response in responses.items() if code in ("200", "204"))
    media = success.get("content", {}).get("application/json", {})
    return {
        **described,
        "method": operation.method,
        "address": operation.address,
        "who": _callers(operation),
        "body_model": _model(content.get("schema", {}), document),
        "answer_model": _model(media.get("schema", {}), document),
        "answer_words": success["description"],
        "code": code,
        "sample": orjson.dumps(media["example"], option=orjson.OPT_INDENT_2).decode() if media else "",
        "errors": [code for code in responses if code.isdigit() and int(code) >= 400],
        "example": curl(operation),
    }


def _objects(operations: Sequence[Operation], document: Mapping[str, Any]) -> dict[str, Any]:
    """The objects in answers by name, without envelopes and request bodies."""
    bodies = {operation.body.__name__ for operation in operations if operation.body and not operation.oauth}
    schemas = document["components"]["schemas"].items()
    return {name: schema for name, schema in schemas if name not in bodies and not name.startswith(("Data_", "Page_"))}


def _model(schema: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The object that ``schema`` names: of a list or a wrapper the one inside."""
    inner = schema.get("items", schema)
    name = inner.get("$ref", "").rpartition("/")[2]
    model = document["components"]["schemas"].get(name)
    return dict(model) if model and "properties" in model else None


def _callers(operation: Operation) -> str:
    if operation.public:
        return "Needs no token."
    scopes = " or ".join(f"`{scope}`" for scope in operation.scopes)
    callers = [f"an access token with {scopes}" if scopes else "any access token"]
    if operation.connect:
        callers.append("a Connect token")
    if operation.user_key:
        callers.append("a person's API key")
    return f"For {', or '.join(callers)}."


def _marked(text: str) -> Markup:
    """``text`` as HTML, with code in backticks marked."""
    parts = [
        Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)
