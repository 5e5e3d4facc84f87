"""``/openapi.json``: the description of the API (OpenAPI 3.1), drawn from what answers it.

Operations, scopes and callers stand in :mod:`table`, parameters and bodies in the models that validate them, answers
in :mod:`shapes`. Nothing is described twice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from webapp.service.api.base import models as base
from webapp.service.api.base.limits import LIMITS, class_of
from webapp.service.api.base.models import Empty, Error, OAuthError, Raw
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import ExternalUserId, ProjectId
from webapp.service.api.projects.models import TokenRequest
from webapp.service.api.reference import words
from webapp.service.api.reference.answers import ERRORS, EXTENSIONS, RESPONSES
from webapp.service.api.reference.examples import EXAMPLES
from webapp.service.api.reference.samples import sample
from webapp.service.domain.base import scopes

VERSION = "2.0.0"
REF = "#/components/schemas/{model}"
TITLES = {"oauth": "Access tokens", "proxy": "Proxy", "webhooks": "General webhooks", "webhook": "Project webhook",
          "oauth_apps": "OAuth clients", "deployed-triggers": "Deployed triggers", "file_stash": "Files",
          "files": "Files", "rate_limits": "Rate limits", "app_categories": "Apps", "tokens": "Connect tokens",
          "app_overrides": "App overrides"}  # fmt: skip
STATUSES: Mapping[int, str] = {
    400: "Malformed or invalid; `details` name the fields.",
    401: "No, an unknown, an expired or a revoked token.",
    403: "The scope, origin, environment or user is not allowed.",
    404: "Absent, or somebody else's: the two look the same.",
    409: "It collides with something that already stands.",
    413: "The body is larger than 10 MiB.",
    415: "The body is not JSON.",
    429: "A rate limit is exceeded; `Retry-After` tells for how many seconds.",
    500: "Something went wrong on our side; quote the `request_id` to the operator.",
    502: "The app's own provider failed.",
    503: "The store is busy; try again in a moment.",
    504: "The app's own provider took too long.",
}
SCOPES = {
    scopes.ALL: "Everything",
    scopes.CONNECT: "The whole Connect API",
    scopes.ACTIONS: "Actions",
    scopes.TRIGGERS: "Triggers",
    scopes.ACCOUNTS_READ: "List and fetch accounts",
    scopes.ACCOUNTS_WRITE: "Create and remove accounts",
    scopes.DEPLOYED_TRIGGERS_READ: "Read deployed triggers and what belongs to them",
    scopes.DEPLOYED_TRIGGERS_WRITE: "Change and delete deployed triggers",
    scopes.USERS_READ: "List external users",
    scopes.USERS_WRITE: "Delete external users",
    scopes.PROJECTS_READ: "List and fetch projects",
    scopes.PROJECTS_WRITE: "Create, change and delete projects",
    scopes.USAGE_READ: "Read usage",
    scopes.TOKENS_CREATE: "Create Connect tokens",
    scopes.PROXY: "Use the proxy",
    scopes.WORKFLOW_INVOKE: "Invoke workflows on behalf of a user",
}
_LEFT_OUT = "With a Connect token it may be left out: the token says."
_IN_PATH: Mapping[str, Any] = {"project_id": ProjectId, "external_user_id": ExternalUserId}
_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


class _Plain(GenerateJsonSchema):
    """Schemas without ``default: null``: what may be left out is simply not required; nor with titles of fields, which
    say their names again."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        if not found.get("default", True) and found.get("default") is not False:
            found.pop("default")
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def document(operations: Sequence[Operation], public_url: str) -> dict[str, Any]:
    """The whole description. Raises ``LookupError`` for an operation whose answer nobody described."""
    missing = [one.name for one in operations if one.name not in RESPONSES]
    if missing:
        raise LookupError(f"shapes/table.py does not say what these answer: {', '.join(missing)}")
    schemas, refs = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(path_of(one), {})[one.method.lower()] = _operation(one, refs)
    for found in (found for methods in paths.values() for found in methods.values()):
        _show(found["responses"].get("200", {}), schemas)
    tags = dict.fromkeys(tag_of(one) for one in operations)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Patchbay Connect API", "version": VERSION, "description": _ABOUT},
        "servers": [{"url": public_url}],
        "tags": [{"name": tag, "description": words.TAGS.get(tag, "")} for tag in tags],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {str(code): _error(code, said) for code, said in STATUSES.items()},
            "headers": {name: {"schema": {"type": "integer"}} for name in (*_HEADERS, "Retry-After")},
            "securitySchemes": _security_schemes(),
        },
    }


def _show(answer: Mapping[str, Any], schemas: Mapping[str, Any]) -> None:
    """Put a sample beside the schema of ``answer``."""
    media = answer.get("content", {}).get("application/json")
    if media:
        media["example"] = sample(media["schema"], schemas)


def path_of(operation: Operation) -> str:
    """Its address with ``{parameters}``."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", operation.rules[0])


def tag_of(operation: Operation) -> str:
    """The group that it is shown in."""
    parts = operation.path.removeprefix("/v1/connect").removeprefix("/v1").strip("/").split("/")
    parts = parts[1:] if parts[0] == "P" else parts
    if (parts[0] == "users" and parts[-1] == "accounts") or (parts[0] == "apps" and "accounts" in parts):
        return "Accounts"
    return TITLES.get(parts[0]) or parts[0].replace("_", " ").capitalize()


def title_of(operation: Operation) -> str:
    """Its name in words."""
    name = operation.name.replace("_", " ").replace("oauth", "OAuth")
    return name[:1].upper() + name[1:]


def _operation(one: Operation, refs: Mapping[Any, str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": one.name,
        "summary": title_of(one),
        "description": description_of(one),
        "tags": [tag_of(one)],
        "parameters": list(parameters(one)),
        "responses": _responses(one, refs),
        "security": list(_security(one)),
    }
    if body := _body(one, refs):
        found["requestBody"] = body
    if one.name in EXTENSIONS:
        found["x-extension"] = True
    return found


def description_of(one: Operation) -> str:
    """What it does, who may call it and how often, in sentences."""
    said = " ".join((one.handler.__doc__ or "").split())
    name = class_of(one)
    if name:
        limit = LIMITS[name]
        whose = "for each external user" if name == "tokens" else "for each project and environment"
        said += f" Limited to {limit.requests:,} requests in {limit.window_s} seconds {whose}."
    if one.name in EXTENSIONS:
        said += " An extension of Patchbay."
    return said.strip()


def parameters(one: Operation) -> Iterator[dict[str, Any]]:
    """What stands in the path, the query and the headers."""
    for name in re.findall(r"<(?:\w+:)?(\w+)>", one.rules[0]):
        known = _IN_PATH.get(name)
        schema = TypeAdapter(known).json_schema() if known else {"type": "string", "minLength": 1}
        said = words.of_parameter(one.name, name)
        yield {"name": name, "in": "path", "required": True, "description": said, "schema": _text(schema)}
    if one.query:
        model = one.query.model_json_schema(ref_template=REF, schema_generator=_Plain)
        for name, schema in model.get("properties", {}).items():
            said, owner = words.of_parameter(one.name, name), name == one.query.owner
            yield {
                "name": name, "in": "query", "required": owner or name in model.get("required", ()),
                "description": f"{said} {_LEFT_OUT}" if owner else said, "schema": _text(_not_null(schema)),
            }  # fmt: skip
    if one.in_project:
        yield {
            "name": "x-pd-environment", "in": "header", "required": True,
            "description": f"Which of the project's two environments. {_LEFT_OUT}",
            "schema": {"type": "string", "enum": ["development", "production"]},
        }  # fmt: skip
    if not one.public and one.path.startswith(("P/", "/v1/connect/")):
        yield {
            "name": "x-pd-rate-limit", "in": "header", "required": False,
            "description": "The token of a custom rate limit, which applies on top.", "schema": {"type": "string"},
        }  # fmt: skip


def _body(one: Operation, refs: Mapping[Any, str]) -> dict[str, Any] | None:
    if one.name == "create_access_token":
        media: dict[str, Any] = {"schema": {"$ref": refs[TokenRequest]}}
        return {
            "required": True,
            "content": {"application/json": media, "application/x-www-form-urlencoded": media},
        }
    if one.path.startswith("P/proxy/") and one.method != "GET":
        return {"required": False, "content": {"application/json": {"schema": {}}, "*/*": {"schema": {}}}}
    if one.body is None:
        return None
    content: dict[str, Any] = {"schema": {"$ref": refs[one.body]}}
    if one.name in EXAMPLES and EXAMPLES[one.name].body is not None:
        content["example"] = EXAMPLES[one.name].body
    return {"required": True, "content": {"application/json": content}}


def _responses(one: Operation, refs: Mapping[Any, str]) -> dict[str, Any]:
    answer = RESPONSES[one.name]
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS} if class_of(one) else {}
    if isinstance(answer, Empty):
        found: dict[str, Any] = {"204": {"description": "Done."}}
    elif isinstance(answer, Raw):
        found = {"200": {"description": answer.words, "content": {answer.media: {"schema": {}}}}}
    else:
        schema = {"$ref": refs[answer]} if answer in refs else _adapted(answer)
        found = {"200": {"description": "Done.", "content": {"application/json": {"schema": schema}}}}
    proxied = one.path.startswith("P/proxy/")
    if proxied:
        found["default"] = {"description": "Any other status of the app.", "content": {"*/*": {"schema": {}}}}
    if headers:
        next(iter(found.values()))["headers"] = headers
    for code in sorted(statuses(one)):
        theirs = {"description": f"{STATUSES[code]} Or the app's own answer.", "content": {"*/*": {"schema": {}}}}
        found[str(code)] = theirs if proxied else {"$ref": f"#/components/responses/{code}"}
    if one.name == "create_access_token":
        oauth = {"application/json": {"schema": {"$ref": refs[OAuthError]}}}
        found |= {str(code): {"description": STATUSES[code], "content": oauth} for code in (400, 401)}
    return found


def statuses(one: Operation) -> set[int]:
    """Every error that it may answer."""
    found = {400, 413, 429, 500, 503, *ERRORS.get(one.name, ())}
    if not one.public or one.name == "create_access_token":
        found |= {401}
    if not one.public or one.name == "validate_token":
        found |= {403}
    if "<" in one.rules[0] or one.body:
        found |= {404}
    if one.body:
        found |= {415}
    if one.method != "GET":
        found |= {409}
    return found


def _security(one: Operation) -> Iterator[dict[str, list[str]]]:
    if one.public:
        yield {}
        return
    for scope in one.scopes or ("",):
        yield {"oauth": [scope] if scope else []}
    if one.connect:
        yield {"connectToken": []}
    if one.user_key:
        yield {"userKey": []}


def _security_schemes() -> dict[str, Any]:
    flows = {"clientCredentials": {"tokenUrl": "/v1/oauth/token", "scopes": SCOPES}}
    return {
        "oauth": {"type": "oauth2", "flows": flows, "description": "For servers: an access token lasts one hour."},
        "connectToken": {"type": "http", "scheme": "bearer", "description": "For frontends: one external user's."},
        "userKey": {"type": "http", "scheme": "bearer", "description": "A person's own API key."},
    }


def _error(code: int, sentence: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "description": sentence,
        "content": {"application/json": {"schema": {"$ref": REF.format(model="Error")}}},
    }
    if code == 429:
        found["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in (*_HEADERS, "Retry-After")}
    return found


def _schemas(operations: Sequence[Operation]) -> tuple[dict[str, Any], dict[Any, str]]:
    """Every model by name, and where each is to be found."""
    models: dict[Any, None] = dict.fromkeys((Error, OAuthError, TokenRequest))
    for one in operations:
        if one.body:
            models[one.body] = None
        answer = RESPONSES[one.name]
        if isinstance(answer, type) and issubclass(answer, base.Shape):
            models[answer] = None
    given = [(model, "validation") for model in models]
    refs, found = models_json_schema(given, ref_template=REF, schema_generator=_Plain)  # type: ignore[arg-type]  # the mode is one of its literals
    for one in operations:
        if one.body:
            _say(one.body.__name__, found["$defs"][refs[one.body, "validation"]["$ref"].rpartition("/")[2]])
    _say("TokenRequest", found["$defs"]["TokenRequest"])
    return found["$defs"], {model: refs[model, "validation"]["$ref"] for model in models}


def _say(name: str, schema: dict[str, Any]) -> None:
    """Say what the fields of a body mean."""
    for field, described in schema["properties"].items():
        said = words.of_field(name, field)
        if said and "description" not in described:
            described["description"] = said


def _adapted(answer: Any) -> dict[str, Any]:
    """The schema of an answer that is no object: its definitions stand beside the others already."""
    found = TypeAdapter(answer).json_schema(ref_template=REF, schema_generator=_Plain)
    found.pop("$defs", None)
    return found


def _text(schema: dict[str, Any]) -> dict[str, Any]:
    """Nothing in an address may hold NUL."""
    plain = schema.get("type") == "string" and not {"pattern", "enum", "format"} & set(schema)
    return {**schema, "pattern": "^[^\\u0000]*$"} if plain else schema


def _not_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter is there or not; it is never null."""
    kept = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(kept) == 1:
        return {**{name: value for name, value in schema.items() if name != "anyOf"}, **kept[0]}
    return dict(schema)


_ABOUT = (
    "Connect your users' accounts at other apps, run the apps' actions with them, and deploy triggers that tell you "
    "what happens there.\n\n"
    "Your server gets an access token with its OAuth client's id and secret, and sends it with every call: "
    "`Authorization: Bearer <token>`. A browser gets a Connect token from your server, which stands for one of your "
    "users and sees that user's things alone; with it every project path also works without its project.\n\n"
    "Paths of a project need the header `x-pd-environment`. Lists come in pages: `after` takes the `end_cursor` of the "
    "page before, which is empty on the last one."
)
