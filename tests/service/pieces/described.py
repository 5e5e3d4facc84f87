"""The description of a piece of our own, as its program would tell it: one of each thing that has to be said."""

from typing import Any

OAUTH: dict[str, Any] = {
    "type": "OAUTH2", "displayName": "Connection", "required": True, "authUrl": "https://{region}.acme.io/authorize",
    "tokenUrl": "https://api.acme.io/token?v=2", "scope": ["tasks:read", "tasks:write"], "pkce": True,
    "pkceMethod": "S256", "authorizationMethod": "HEADER", "prompt": "omit", "extra": {"audience": "api"},
    "props": {"region": {"type": "SHORT_TEXT", "displayName": "Region", "required": True}},
}  # fmt: skip
CLIENT: dict[str, Any] = {
    "type": "OAUTH2", "displayName": "Machine", "authUrl": "", "tokenUrl": "https://api.acme.io/token",
    "scope": ["tasks:read"], "grantType": "client_credentials",
}  # fmt: skip
SECRET: dict[str, Any] = {
    "type": "SECRET_TEXT", "displayName": "API Key", "description": "From **Settings**.", "required": True,
    "hasValidate": True,
}  # fmt: skip
BASIC: dict[str, Any] = {
    "type": "BASIC_AUTH", "displayName": "Sign in", "username": {"displayName": "E-mail"}, "password": {},
}  # fmt: skip
CUSTOM: dict[str, Any] = {
    "type": "CUSTOM_AUTH", "displayName": "Own server", "description": "Run `acme serve`.", "hasValidate": True,
    "props": {
        "note": {"type": "MARKDOWN", "description": "Mind the **port**."},
        "baseUrl": {"type": "SHORT_TEXT", "displayName": "Server", "required": True},
        "apiKey": {"type": "SECRET_TEXT", "displayName": "Key", "required": True},
        "port": {"type": "NUMBER", "displayName": "Port", "required": False, "defaultValue": 8443},
        "tls": {"type": "CHECKBOX", "displayName": "TLS", "required": False, "defaultValue": True},
        "zone": {
            "type": "STATIC_DROPDOWN", "displayName": "Zone", "required": False,
            "options": {"options": [{"label": "One", "value": 1}, {"label": "Two", "value": 2}]},
        },
    },
}  # fmt: skip
OIDC: dict[str, Any] = {"type": "OIDC", "displayName": "Workload", "props": {}}
ADD: dict[str, Any] = {
    "name": "addTask", "displayName": "Add Task", "description": "Adds a **task**", "requireAuth": True,
    "classification": "WRITE", "aiMetadata": {"idempotent": False}, "wants": [],
    "props": {
        "list": {"type": "DROPDOWN", "displayName": "List", "required": True, "refreshers": [], "hasOptions": True},
        "title": {"type": "SHORT_TEXT", "displayName": "Title", "required": True},
        "fields": {"type": "DYNAMIC", "displayName": "Fields", "required": True, "refreshers": ["list"]},
        "x-tag": {"type": "SHORT_TEXT", "displayName": "Tag", "required": False},
        "look": {"type": "CUSTOM", "displayName": "Look", "required": False},
        "odd": {"type": "FUTURE", "displayName": "Odd", "required": False},
    },
}  # fmt: skip
FIND: dict[str, Any] = {"name": "find_tasks", "displayName": "Find Tasks", "description": "", "props": {}}
WAIT: dict[str, Any] = {
    "name": "wait",
    "displayName": "Wait",
    "description": "Waits.",
    "props": {},
    "wants": ["waitpoints"],
}
PUBLIC: dict[str, Any] = {"name": "status", "displayName": "Get Status", "props": {}, "requireAuth": False}
NEW: dict[str, Any] = {
    "name": "new_task", "displayName": "New Task", "description": "When a task is added.", "type": "POLLING",
    "props": {"timer": {"type": "SHORT_TEXT", "displayName": "Timer", "required": False}},
}  # fmt: skip
TOLD: dict[str, Any] = {
    "name": "told", "displayName": "Told", "description": "When told.", "type": "WEBHOOK", "props": {},
    "handshakeConfiguration": {"strategy": "HEADER_PRESENT", "paramName": "x-hook-secret"},
    "renewConfiguration": {"strategy": "CRON", "cronExpression": "0 0 * * *"},
}  # fmt: skip
HEARD: dict[str, Any] = {
    "name": "heard", "displayName": "Heard", "description": "When heard.", "type": "APP_WEBHOOK", "props": {},
    "handshakeConfiguration": {"strategy": "NONE"}, "renewConfiguration": {"strategy": "NONE"},
}  # fmt: skip
BY_HAND: dict[str, Any] = {"name": "manual", "displayName": "By hand", "type": "MANUAL", "props": {}}
SOURCE = """
fetch("https://api.acme.io/v1"); fetch(`https://${a}.acme.io/x`); fetch('https://localhost:1/');
see("https://docs.acme.io/a"); x = "https://www.w3.org/2000"; y = context.auth.data["team"].id.toString();
"""


def piece(*auth: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The whole description, with these ways to connect."""
    parts = {
        "actions": {each["name"]: each for each in (ADD, FIND, WAIT, PUBLIC)},
        "triggers": {each["name"]: each for each in (NEW, TOLD, HEARD, BY_HAND)},
    }
    told = {
        "name": "@acme/piece-acme-tasks", "displayName": "Acme Tasks", "description": "Tasks of **Acme**",
        "logoUrl": "https://cdn.acme.io/logo.png", "authors": ["ann"], "categories": ["PRODUCTIVITY"],
        "contextInfo": {"version": "2"}, "auth": list(auth), "events": {"verify": True, "parseAndReply": True},
        "i18n": {"de": {"Add Task": "Aufgabe hinzufügen", "Title": "Titel", "When told.": "Wenn **es** gesagt wird."}},
    }  # fmt: skip
    return {**told, **parts, **changes}
