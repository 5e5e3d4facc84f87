"""What an answer looks like: a sample drawn from its schema, for the description of the API and its page.

Only what is never missing is drawn. A field's value follows from its name, or else from its type; a test holds every
sample against the model that it was drawn from.
"""

from collections.abc import Mapping
from typing import Any

AT, AT_MS, AT_S = "2026-11-21T08:00:00.000Z", 1_795_248_000_000, 1_795_248_000
IDS: Mapping[str, str] = {
    "Account": "apn_5hQ2kLm9RtVx", "ExtendedAccount": "apn_5hQ2kLm9RtVx", "App": "app_1K7bQx9dTz",
    "OneApp": "app_1K7bQx9dTz", "ListedApp": "app_1K7bQx9dTz", "AppName": "app_1K7bQx9dTz", "Category": "appcat_3Vn8Pq",
    "Project": "proj_8Fw3ZsKd", "ExternalUser": "exu_4Jr6Yh", "OAuthApp": "oa_7Mc2Wb", "AppOverride": "aov_9Xe5Lp",
    "DeployedTrigger": "dc_6Gt1Nv", "Webhook": "wh_2Sd7Kj", "ProjectWebhook": "wh_2Sd7Kj",
    "GeneralWebhook": "wh_2Sd7Kj", "Event": "evt_0Bz4Qr", "Delivery": "dlv_5Ua8Hc", "DeliveryDetails": "dlv_5Ua8Hc",
    "Run": "run_3Ko9Ei", "RunDetails": "run_3Ko9Ei", "Me": "u_1Wq6Df", "Use": "dc_6Gt1Nv", "DynamicProps": "dyp_8Zl2Xm",
    "Entry": "ev_7Ns4Ty", "Deed": "aud_6Rb3Vg", "LogEntry": "tr_2Hy5Cw",
}  # fmt: skip
VALUES: Mapping[str, Any] = {
    "access_token": "eyJhbGciOi…", "account_id": IDS["Account"], "app": "github", "app_name": "Acme",
    "actor": "oc_4Tf7Bn", "callback_observations": None, "categories": ["Developer tools"],
    "client_id": "Iv1.0123456789abcdef", "component_id": "sc_9Dk2Wx", "component_key": "github-create-issue",
    "component_version": "0.0.1",
    "connect_link_url": "https://connect.example.com/_static/connect.html?token=ctok_…&connectLink=true", "count": 1,
    "total_count": 1, "start_cursor": "WyJhIl0", "end_cursor": "", "custom_fields_json": "[]", "dead": False,
    "description": "", "email": "ada@example.com", "environment": "development", "error": None,
    "event_id": IDS["Event"], "expires_at": AT, "expires_in": 3600, "external_id": "user-123",
    "external_user_id": "user-123", "healthy": True, "img_src": "https://connect.example.com/v1/…/github.svg",
    "authorized_scopes": ["repo"], "scopes": ["repo"], "k": "emit", "key": "github-create-issue", "last_error": None,
    "name": "GitHub", "name_slug": "github", "owner_id": IDS["ExternalUser"], "project_id": IDS["Project"],
    "role": "owner", "redirect_uri": "https://connect.example.com/connect/oauth/callback", "response_status": 200,
    "scope": "*", "sentence": "Ada connected GitHub.", "signing_key_set": True, "support_email": "help@example.com",
    "token": "ctok_0123456789abcdef0123456789abcdef", "trigger_id": IDS["DeployedTrigger"],
    "url": "https://app.example.com/events", "user_id": IDS["Me"], "username": "ada", "version": "0.0.1",
    "webhook_urls": ["https://app.example.com/events"], "workflow_ids": ["p_2Vc9Lk"], "ret": {"number": 42},
    "exports": {"$summary": "Created issue 42"}, "webhook_id": IDS["Webhook"], "oauth_app_id": IDS["OAuthApp"],
    "attempt": 1, "n": 1, "summary": "Created issue 42", "kind": "connected", "verb": "created", "noun": "account",
    "subject_id": IDS["Account"], "label": "Inbox", "value": "prj_001", "stringOptions": None,
    "webhook_signing_key": "whsec_…", "e": {"number": 42, "title": "It works"}, "errors": [], "os": [],
    "observations": [], "configurable_props": [], "configurableProps": [], "configured_props": {},
    "featured_weight": 90, "Run.app": "github", "RunDetails.app": "github", "LimitToken.token": "rl_Xk4Tq8…",
    "Category.name": "Developer tools", "Project.name": "Shop", "DeployedTrigger.name": "New issue",
    "DeployedTrigger.name_slug": "new-issue", "DeployedTrigger.component_key": "github-new-issue",
    "Component.name": "Create issue", "Use.name": "New issue", "Me.orgs": [], "Event.k": "emit", "PageInfo.count": 1,
    "Count.count": 3, "GeneralWebhook.name": "Everything",
    "request": {"url": "https://app.example.com/events", "headers": {}, "body": "{}"}, "success": True,
    "ScopeProfile.name": "read_only", "LogEntry.cause": "timer", "Attempt.response_headers": {},
    "signing_key": "whsec_…", "AppOverride.name": "Our own GitLab", "OAuthApp.owner_id": IDS["Project"],
    "AppOverride.owner_id": IDS["Project"], "Identity.name": "Ada",
}  # fmt: skip


def sample(schema: Mapping[str, Any], schemas: Mapping[str, Any], model: str = "", name: str = "") -> Any:
    """A value that ``schema`` allows, whose definitions are ``schemas``; ``name`` is the field of ``model``."""
    if "$ref" in schema:
        inner = schema["$ref"].rpartition("/")[2]
        return sample(schemas[inner], schemas, model=inner)
    if name == "id":
        return IDS.get(model, "id_1Ab2Cd")
    for known in (f"{model}.{name}", name):
        if known in VALUES and _fits(VALUES[known], schema):
            return VALUES[known]
    return _by_type(schema, schemas, model, name)


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a field of this schema may hold ``value``: a thing with a model of its own says more than a name does."""
    choices = schema.get("anyOf", [schema])
    if any("$ref" in one for one in choices):
        return False
    if value is None:
        return any(one.get("type", "null") == "null" for one in choices)
    allowed = schema.get("enum") or ([schema["const"]] if "const" in schema else [value])
    return value in allowed


def _by_type(schema: Mapping[str, Any], schemas: Mapping[str, Any], model: str, name: str) -> Any:
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], schemas, model, name)
    if "const" in schema or "enum" in schema:
        return schema.get("const") or schema["enum"][0]
    match schema.get("type"):
        case "object":
            must, fields = schema.get("required", ()), schema.get("properties", {})
            own = schema.get("title", model)
            return {field: sample(fields[field], schemas, own, field) for field in fields if field in must}
        case "array":
            return [sample(schema["items"], schemas, model, "")] if "$ref" in schema.get("items", {}) else []
        case "integer" | "number":
            said = schema.get("description", "")
            return AT_MS if "Milliseconds" in said else AT_S if "Seconds" in said else 12
        case "boolean":
            return True
        case "string":
            return AT if schema.get("format") == "date-time" else "…"
    return None
