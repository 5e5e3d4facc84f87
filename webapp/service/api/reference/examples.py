"""One example of each operation, which runs: the tests send every one of them, as the reference page prints it.

``$NAMES`` stand for what an installation has of its own; :data:`VARIABLES` says where each comes from.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import orjson

USER = "user-123"
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
    "APP_OVERRIDE_ID": "the id of an app override",
    "RUN_ID": "the id of a run",
    "TRIGGER_ID": "the id of a deployed trigger of the user",
    "OTHER_TRIGGER_ID": "the id of another deployed trigger of the user",
    "WEBHOOK_ID": "the id of a webhook of the trigger",
    "DELIVERY_ID": "the id of a delivery of the trigger",
    "S3_KEY": "the key of a stashed file",
    "TICKET": "the last part of a file's link",
    "SANDBOX_KEY": "an API key of the sandbox, which lists them at /keys",
    "TASK_64": "the address of a task, /api/tasks/{id}, in URL-safe base64",
    "SINCE": "a Unix time in seconds",
    "UNTIL": "a later one",
}


@dataclass(frozen=True, slots=True)
class Example:
    """What to send. ``path`` overrides what :data:`PATH` gives for the parameters of the address."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


PATH = {
    "project_id": "$PROJECT_ID",
    "account_id": "$ACCOUNT_ID",
    "external_user_id": USER,
    "app": "sandbox",
    "category_id": "$CATEGORY_ID",
    "component_id": "sandbox-create-task",
    "ctok": "$CTOK",
    "oauth_app_id": "$OAUTH_APP_ID",
    "app_override_id": "$APP_OVERRIDE_ID",
    "run_id": "$RUN_ID",
    "trigger_id": "$TRIGGER_ID",
    "webhook_id": "$WEBHOOK_ID",
    "delivery_id": "$DELIVERY_ID",
    "ticket": "$TICKET",
    "url_64": "L2FwaS9wcm9qZWN0cw",
}
OWNER = {"external_user_id": USER}
_TASK = {"id": "sandbox-create-task", "external_user_id": USER}
_WITH = {"account": {"authProvisionId": "$ACCOUNT_ID"}}
_PROJECTS = {**_TASK, "prop_name": "project_id", "configured_props": _WITH}
_CHOSEN = {**_WITH, "project_id": "prj_001"}
_FIND = {"id": "sandbox-list-projects", "external_user_id": USER, "configured_props": _WITH}
_NEW_TASK = {"id": "sandbox-new-task", "external_user_id": USER}
_AS = {**OWNER, "account_id": "$ACCOUNT_ID"}
_TIMER = {"cron": {"intervalSeconds": 900}}

EXAMPLES: Mapping[str, Example] = {
    "create_access_token": Example(
        body={"grant_type": "client_credentials", "client_id": "$CLIENT_ID", "client_secret": "$CLIENT_SECRET"}
    ),
    "create_token": Example(
        body={"external_user_id": USER, "allowed_origins": ["https://app.example.com"], "expires_in": 3600}
    ),
    "validate_token": Example(query={"app_id": "sandbox"}),
    "list_apps": Example(query={"q": "tasks", "limit": "5"}),
    "get_app": Example(),
    "list_app_categories": Example(),
    "get_app_category": Example(),
    "list_projects": Example(query={"limit": "10"}),
    "get_project": Example(),
    "get_project_info": Example(),
    "create_project": Example(body={"name": "Shop", "support_email": "help@example.com"}),
    "update_project": Example(body={"app_name": "The Shop"}),
    "delete_project": Example(path={"project_id": "$OTHER_PROJECT_ID"}),
    "set_project_logo": Example(body={"logo": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="}),
    "get_project_logo": Example(),
    "list_users": Example(query={"q": "user"}),
    "delete_user": Example(path={"external_user_id": "user-to-delete"}),
    "list_oauth_apps": Example(query={"app": "github"}),
    "create_oauth_app": Example(body={"app": "github", "client_id": "Iv1.0123456789abcdef", "client_secret": "secret"}),
    "get_oauth_app": Example(),
    "update_oauth_app": Example(body={"name": "Our GitHub client"}),
    "delete_oauth_app": Example(),
    "list_app_overrides": Example(),
    "create_app_override": Example(body={"app": "gitlab", "name": "Our own GitLab", "cfmap": {}}),
    "get_app_override": Example(),
    "update_app_override": Example(body={"name": "The GitLab of the company"}),
    "delete_app_override": Example(),
    "list_usage": Example(query={"start_ts": "$SINCE", "end_ts": "$UNTIL"}),
    "list_accounts": Example(query={**OWNER, "app": "sandbox"}),
    "create_account": Example(
        body={
            "app_slug": "sandbox_keys",
            "cfmap_json": '{"api_key": "$SANDBOX_KEY"}',
            "connect_token": "$CTOK",
        }
    ),
    "get_account": Example(query={"include_credentials": "true"}),
    "delete_account": Example(path={"account_id": "$OTHER_ACCOUNT_ID"}),
    "delete_accounts_of_app": Example(path={"app": "github"}, query=OWNER),
    "list_accounts_of_user": Example(),
    "rename_account": Example(body={"name": "My tasks"}),
    "test_account": Example(),
    "revoke_account": Example(path={"account_id": "$OTHER_ACCOUNT_ID"}),
    "list_account_uses": Example(),
    "list_account_history": Example(query={"limit": "10"}),
    "list_activity": Example(query=OWNER),
    "list_audit": Example(query={"limit": "10"}),
    "list_components": Example(query={"app": "sandbox"}),
    "list_actions": Example(query={"q": "create task"}),
    "list_triggers": Example(query={"app": "sandbox"}),
    "get_component": Example(),
    "get_action": Example(query={"version": "0.0.1"}),
    "get_trigger": Example(path={"component_id": "sandbox-new-task"}),
    "configure_component": Example(body=_PROJECTS),
    "configure_action": Example(body=_PROJECTS),
    "configure_trigger": Example(body={**_NEW_TASK, "prop_name": "project_id", "configured_props": _WITH}),
    "reload_component_props": Example(body={**_TASK, "configured_props": _CHOSEN}),
    "reload_action_props": Example(body={**_TASK, "configured_props": _CHOSEN}),
    "reload_trigger_props": Example(body={**_NEW_TASK, "configured_props": _WITH}),
    "run_action": Example(body=_FIND),
    "run_component": Example(body=_FIND),
    "list_runs": Example(query={**OWNER, "ok": "true"}),
    "get_run": Example(),
    "deploy_trigger": Example(
        body={
            "id": "schedule-custom-interval",
            "external_user_id": USER,
            "configured_props": _TIMER,
            "webhook_url": "https://app.example.com/events",
        }
    ),
    "list_deployed_triggers": Example(query={**OWNER, "emitter_type": "timer"}),
    "get_deployed_trigger": Example(query=OWNER),
    "update_deployed_trigger": Example(query=OWNER, body={"name": "Every quarter of an hour", "active": True}),
    "delete_deployed_trigger": Example(path={"trigger_id": "$OTHER_TRIGGER_ID"}, query=OWNER),
    "list_trigger_logs": Example(query=OWNER),
    "send_test_event": Example(query=OWNER, body={"event": {"hello": "world"}}),
    "list_trigger_events": Example(query={**OWNER, "n": "10"}),
    "list_webhooks": Example(query=OWNER),
    "set_webhooks": Example(query=OWNER, body={"webhook_urls": ["https://app.example.com/events"]}),
    "get_webhook": Example(query=OWNER),
    "regenerate_signing_key": Example(query=OWNER),
    "reset_delivery_state": Example(query=OWNER),
    "list_pipelines": Example(query=OWNER),
    "set_pipelines": Example(query=OWNER, body={"workflow_ids": []}),
    "list_deliveries": Example(query={**OWNER, "limit": "10"}),
    "get_delivery": Example(query=OWNER),
    "resend_delivery": Example(query=OWNER),
    "resend_deliveries": Example(query=OWNER, body={"status": "failed", "dry_run": True}),
    "get_trigger_stats": Example(query=OWNER),
    "get_project_webhook": Example(),
    "set_project_webhook": Example(body={"url": "https://app.example.com/hooks"}),
    "delete_project_webhook": Example(),
    "regenerate_project_key": Example(),
    "create_webhook": Example(
        query={"url": "https://app.example.com/all", "name": "Everything", "description": "What goes wrong"}
    ),
    "get_current_user": Example(),
    "create_rate_limit": Example(body={"window_size_seconds": 60, "requests_per_window": 100}),
    "download_file": Example(query={"s3_key": "$S3_KEY"}),
    "follow_file_link": Example(),
    "proxy_get": Example(query=_AS),
    "proxy_post": Example(
        path={"url_64": "L2FwaS9wcm9qZWN0cy9wcmpfMDAxL3Rhc2tz"},
        query=_AS,
        body={"title": "Buy milk"},
        headers={"x-pd-proxy-accept-language": "en"},
    ),
    "proxy_put": Example(query=_AS, body={}),
    "proxy_patch": Example(path={"url_64": "$TASK_64"}, query=_AS, body={"done": True}),
    "proxy_delete": Example(path={"url_64": "$TASK_64"}, query=_AS),
}


def curl(method: str, address: str, example: Example, *, token: str | None = "TOKEN", scene: bool = True) -> str:  # noqa: S107
    """The example as a command for a shell that has ``$NAMES`` and ``$PATCHBAY`` (the service's address) set."""
    filled = re.sub(r"\{(\w+)\}", lambda match: example.path.get(match[1], PATH.get(match[1], "")), address)
    query = "&".join(f"{name}={quote(value, safe='$')}" for name, value in example.query.items())
    lines = ["curl" if method == "GET" else f"curl -X {method}", f'"$PATCHBAY{filled}{"?" + query if query else ""}"']
    if token:
        lines.append(f'-H "Authorization: Bearer ${token}"')
    if scene:
        lines.append('-H "x-pd-environment: development"')
    lines += [f'-H "{name}: {value}"' for name, value in example.headers.items()]
    if example.body is not None:
        lines += ['-H "Content-Type: application/json"', f"-d @- <<JSON\n{_here(example.body)}\nJSON"]
    return " \\\n  ".join(lines)


def _here(body: Any) -> str:
    """JSON as a here-document, in which the shell fills in ``$NAMES``."""
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    return text.replace("\\\\", "\\\\\\\\").replace("`", "\\`")
