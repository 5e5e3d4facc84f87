"""Generates ``/openapi.json`` (OpenAPI 3.1) from the operations and their models: the paths, the schemas of requests
and answers, and a sample of each answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from webapp.service.api.base.models import Answer, Error, NoContent, OAuthError, RawContent
from webapp.service.api.base.operations import Operation
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.rate_limits import LIMITS

VERSION = "2.0.0"
ABOUT = (
    "Connect your users' accounts at other apps, run the apps' actions with them, and deploy triggers that notify you "
    "what happens there.\n\n"
    "Your server gets an access token with its OAuth client's id and secret, and sends it with every call: "
    "`Authorization: Bearer <token>`. A browser gets a Connect token from your server, which acts for one of your "
    "users and sees only that user's data; with it every project path also works without its project.\n\n"
    "Paths of a project need the header `x-pd-environment`. Lists come in pages: `after` takes the `end_cursor` of the "
    "page before, which is empty on the last one."
)
STATUSES: Mapping[int, str] = {
    400: "Malformed or invalid; `details` name the fields.",
    401: "No, an unknown, an expired or a revoked token.",
    403: "The scope, origin, environment or user is not allowed.",
    404: "Absent, or somebody else's: the two look the same.",
    409: "It conflicts with something that exists.",
    413: "The body is larger than 10 MiB.",
    415: "The body is not JSON, or it is compressed.",
    429: "A rate limit is exceeded; `Retry-After` says for how many seconds.",
    500: "Something went wrong on our side; quote the `request_id` to the operator.",
    502: "The app's own provider failed.",
    503: "The store is busy; try again in a moment.",
    504: "The app's own provider took too long.",
}
SCOPES = {
    token_scopes.ALL: "Everything",
    token_scopes.CONNECT: "The whole Connect API",
    token_scopes.ACTIONS: "Actions",
    token_scopes.TRIGGERS: "Triggers",
    token_scopes.AGENTS_READ: "See what agents may do, and what waits for a yes",
    token_scopes.AGENTS_WRITE: "Change what agents may do, and answer for a user",
    token_scopes.ACCOUNTS_READ: "List and fetch accounts",
    token_scopes.ACCOUNTS_WRITE: "Create and remove accounts",
    token_scopes.DEPLOYED_TRIGGERS_READ: "Read deployed triggers and what belongs to them",
    token_scopes.DEPLOYED_TRIGGERS_WRITE: "Change and delete deployed triggers",
    token_scopes.USERS_READ: "List external users",
    token_scopes.USERS_WRITE: "Delete external users",
    token_scopes.PROJECTS_READ: "List and fetch projects",
    token_scopes.PROJECTS_WRITE: "Create, change and delete projects",
    token_scopes.USAGE_READ: "Read usage",
    token_scopes.TOKENS_CREATE: "Create Connect tokens",
    token_scopes.PROXY: "Use the proxy",
    token_scopes.WORKFLOW_INVOKE: "Invoke workflows on behalf of a user",
}
SECURITY_SCHEMES: Mapping[str, Any] = {
    "oauth": {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "/v1/oauth/token", "scopes": SCOPES}},
        "description": "For servers: an access token lasts one hour.",
    },
    "connectToken": {"type": "http", "scheme": "bearer", "description": "For frontends: one external user's."},
    "userKey": {"type": "http", "scheme": "bearer", "description": "A person's own API key."},
}
REF = "#/components/schemas/{model}"
AT, AT_MS, AT_S = "2026-11-21T08:00:00.000Z", 1_795_248_000_000, 1_795_248_000
LIMIT_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
RETRY_HEADERS = (*LIMIT_HEADERS, "Retry-After")
_LEFT_OUT = "With a Connect token it may be left out: the token says."
_ANYTHING: Mapping[str, Any] = {"*/*": {"schema": {}}}
_FILE: dict[str, Any] = {
    "required": True,
    "content": {
        "application/octet-stream": {"schema": {"type": "string", "format": "binary", "minLength": 1}},
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
                "required": ["file"],
            }
        },
    },
}


class _Generator(GenerateJsonSchema):
    """Generates schemas without ``default: null``, because optional fields are not required, and without titles of
    fields, which repeat their names."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if not described.get("default", True) and described.get("default") is not False:
            described.pop("default")
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class Schemas:
    """The schemas of the models of ``operations``: those that have a name, and a ``$ref`` to each.

    ``named`` keeps the ``examples`` of fields, from which samples are drawn; :meth:`published` leaves them out.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        models: dict[Any, None] = dict.fromkeys((Error, OAuthError))
        for operation in operations:
            if operation.body:
                models[operation.body] = None
            if isinstance(operation.answer, type) and issubclass(operation.answer, Answer):
                models[operation.answer] = None
        modes = [(model, "validation") for model in models]
        refs, document = models_json_schema(modes, ref_template=REF, schema_generator=_Generator)  # type: ignore[arg-type]  # the mode is one of its literals
        self.named: dict[str, Any] = document["$defs"]
        self._refs = {model: {"$ref": refs[model, "validation"]["$ref"]} for model in models}

    def of(self, model: Any) -> dict[str, Any]:
        """The schema of ``model``; the models inside one that is no object itself, such as a list, get into ``named``.

        Raises ``ValueError`` for two different models of one name.
        """
        if model in self._refs:
            return self._refs[model]
        schema = TypeAdapter(model).json_schema(ref_template=REF, schema_generator=_Generator)
        for name, definition in schema.pop("$defs", {}).items():
            if self.named.setdefault(name, definition) != definition:
                raise ValueError(f"Two models of the API are called {name}.")
        return schema

    def published(self) -> dict[str, Any]:
        """The named schemas, as the description of the API has them."""
        return {name: _without_examples(schema) for name, schema in self.named.items()}

    def sample(self, schema: Mapping[str, Any]) -> Any:
        """A value that ``schema`` allows: its example, or one of its type, with only the required members."""
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            return self.sample(self.named[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self.sample(schema["anyOf"][0])
        if "const" in schema or "enum" in schema:
            return schema.get("const") or schema["enum"][0]
        return self._sample_of_type(schema)

    def _sample_of_type(self, schema: Mapping[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                fields = schema.get("properties", {})
                return {name: self.sample(fields[name]) for name in fields if name in schema.get("required", ())}
            case "array":
                return [self.sample(schema["items"])] if "$ref" in schema.get("items", {}) else []
            case "integer" | "number":
                description = schema.get("description", "")
                return AT_MS if "Milliseconds" in description else AT_S if "Seconds" in description else 12
            case "boolean":
                return True
            case "string":
                return AT if schema.get("format") == "date-time" else "…"
        return None


def query_schema(operation: Operation) -> dict[str, Any]:
    """The schema of the query string, whose parameters are never null."""
    if operation.query is None:
        return {}
    schema = operation.query.model_json_schema(ref_template=REF, schema_generator=_Generator)
    fields = schema.get("properties", {}).items()
    return {**schema, "properties": {name: _not_null(field) for name, field in fields}}


def _text_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` of a parameter, which may not contain NUL."""
    plain = schema.get("type") == "string" and not {"pattern", "enum", "format"} & set(schema)
    return {**schema, "pattern": "^[^\\u0000]*$"} if plain else schema


def _not_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return {**{name: value for name, value in schema.items() if name != "anyOf"}, **choices[0]}
    return dict(schema)


def _without_examples(schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties", {}).items()
    plain = {name: {key: value for key, value in field.items() if key != "examples"} for name, field in fields}
    return {**schema, "properties": plain} if plain else dict(schema)


def document(operations: Sequence[Operation], public_url: str) -> dict[str, Any]:
    """The whole description."""
    schemas = Schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.address, {})[operation.method.lower()] = _operation(operation, schemas)
    groups = dict.fromkeys(operation.group for operation in operations)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Patchbay Connect API", "version": VERSION, "description": ABOUT},
        "servers": [{"url": public_url}],
        "tags": [{"name": group.name, "description": group.description} for group in groups],
        "paths": paths,
        "components": {
            "schemas": schemas.published(),
            "responses": {str(code): _error(code) for code in STATUSES},
            "headers": {name: {"schema": {"type": "integer"}} for name in RETRY_HEADERS},
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _operation(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": _title(operation),
        "description": _description(operation),
        "tags": [operation.group.name],
        "parameters": list(_parameters(operation)),
        "responses": _responses(operation, schemas),
        "security": list(_security(operation)),
    }
    if body := _body(operation, schemas):
        described["requestBody"] = body
    if operation.extension:
        described["x-extension"] = True
    return described


def _title(operation: Operation) -> str:
    """Its name in words."""
    name = operation.name.replace("_", " ").replace("oauth", "OAuth")
    return name[:1].upper() + name[1:]


def _description(operation: Operation) -> str:
    """The description of the operation and its rate limit, in sentences."""
    sentences = [operation.summary]
    if operation.limit:
        limit = LIMITS[operation.limit]
        whose = "for each external user" if operation.limit == "tokens" else "for each project and environment"
        sentences.append(f"Limited to {limit.requests:,} requests in {limit.window_s} seconds {whose}.")
    if operation.extension:
        sentences.append("An extension of Patchbay.")
    return " ".join(sentences)


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    """The parameters in the path, the query and the headers."""
    for parameter in operation.path_parameters:
        typed = TypeAdapter(parameter.type).json_schema() if parameter.type else {"type": "string", "minLength": 1}
        yield _parameter("path", parameter.name, typed | {"description": parameter.description}, required=True)
    query = query_schema(operation)
    for name, schema in query.get("properties", {}).items():
        required = name in query.get("required", ())
        yield _parameter(
            "query", name, schema, required=required, owner=name == getattr(operation.query, "owner", None)
        )
    if operation.in_project:
        description = "Which of the project's two environments."
        schema = {"type": "string", "enum": ["development", "production"], "description": description}
        yield _parameter("header", "x-pd-environment", schema, owner=True)
    if not operation.public and operation.path.startswith(("P/", "/v1/connect/")):
        description = "The token of a custom rate limit, which applies on top."
        schema = {"type": "string"}
        yield {
            "name": "x-pd-rate-limit",
            "in": "header",
            "required": False,
            "description": description,
            "schema": schema,
        }


def _parameter(
    place: str, name: str, schema: Mapping[str, Any], *, required: bool = False, owner: bool = False
) -> dict[str, Any]:
    """A parameter, described by the ``description`` in its schema; an ``owner`` one is what a Connect token implies."""
    typed = {key: value for key, value in schema.items() if key != "description"}
    description = schema.get("description", "")
    return {
        "name": name,
        "in": place,
        "required": required or owner,
        "description": f"{description} {_LEFT_OUT}" if owner else description,
        "schema": _text_schema(typed),
    }


def _body(operation: Operation, schemas: Schemas) -> dict[str, Any] | None:
    if operation.proxied and operation.method != "GET":
        return {"required": False, "content": {"application/json": {"schema": {}}, **_ANYTHING}}
    if operation.upload:
        return _FILE
    if operation.body is None:
        return None
    content: dict[str, Any] = {"schema": schemas.of(operation.body)}
    if operation.oauth:
        return {
            "required": True,
            "content": dict.fromkeys(("application/json", "application/x-www-form-urlencoded"), content),
        }
    if operation.example.body is not None:
        content["example"] = operation.example.body
    return {"required": True, "content": {"application/json": content}}


def _responses(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    code, success = _success(operation.answer, schemas)
    if operation.limit:
        success["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in LIMIT_HEADERS}
    responses = {code: success}
    if operation.proxied:
        responses["default"] = {"description": "Any other status of the app.", "content": _ANYTHING}
    for status in sorted(_errors(operation)):
        responses[str(status)] = _error_of(operation, status, schemas)
    return responses


def _success(answer: Any, schemas: Schemas) -> tuple[str, dict[str, Any]]:
    if isinstance(answer, NoContent):
        return "204", {"description": "Done."}
    if isinstance(answer, RawContent):
        return "200", {"description": answer.description, "content": {answer.media_type: {"schema": {}}}}
    schema = schemas.of(answer)
    media = {"schema": schema, "example": schemas.sample(schema)}
    return "200", {"description": "Done.", "content": {"application/json": media}}


def _errors(operation: Operation) -> set[int]:
    """The statuses of all errors that it may answer."""
    statuses = {400, 413, 429, 500, 503, *operation.errors}
    if not operation.public:
        statuses |= {401, 403}
    if operation.oauth:
        statuses |= {401}
    if "{" in operation.address or (operation.body and not operation.oauth):
        statuses |= {404}
    if operation.body and not operation.oauth:
        statuses |= {415}
    if operation.method != "GET":
        statuses |= {409}
    return statuses


def _error_of(operation: Operation, status: int, schemas: Schemas) -> dict[str, Any]:
    if operation.proxied:
        return {"description": f"{STATUSES[status]} Or the app's own answer.", "content": _ANYTHING}
    if operation.oauth and status in (400, 401):
        return {"description": STATUSES[status], "content": {"application/json": {"schema": schemas.of(OAuthError)}}}
    return {"$ref": f"#/components/responses/{status}"}


def _error(code: int) -> dict[str, Any]:
    schema = {"$ref": REF.format(model="Error")}
    described: dict[str, Any] = {"description": STATUSES[code], "content": {"application/json": {"schema": schema}}}
    if code == 429:
        described["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in RETRY_HEADERS}
    return described


def _security(operation: Operation) -> Iterator[dict[str, list[str]]]:
    if operation.public:
        yield {}
        return
    for scope in operation.scopes or ("",):
        yield {"oauth": [scope] if scope else []}
    if operation.connect:
        yield {"connectToken": []}
    if operation.user_key:
        yield {"userKey": []}
