"""The example of an operation as a command for a shell, in which ``$NAMES`` stand for what an installation has of its
own; :data:`VARIABLES` says where each comes from."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import orjson

from webapp.service.api.base.operations import Operation

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
    "TICKET": "the last part of a file's link",
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
    "PIECE_ID": "the id of an integration",
    "READY_PIECE_ID": "the id of one that waits to be confirmed",
    "PIECE_TO_STOP_ID": "the id of another that waits",
    "PIECE_TO_DELETE_ID": "the id of one that is to go",
    "SANDBOX_KEY": "an API key of the sandbox, which lists them at /keys",
    "TASK_64": "the address of a task, /api/tasks/{id}, in URL-safe base64",
    "SINCE": "a Unix time in seconds",
    "UNTIL": "a later one",
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
    return " \\\n  ".join(lines)


def _here_document(body: Any) -> str:
    """JSON as a here-document, in which the shell fills in ``$NAMES``."""
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    return text.replace("\\\\", "\\\\\\\\").replace("`", "\\`")
