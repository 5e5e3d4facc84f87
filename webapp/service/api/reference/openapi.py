"""``/openapi.json``: the description of the API (OpenAPI 3.1), drawn from its operations and their models alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from webapp.service.api.base.models import NoContent, OAuthError, RawContent
from webapp.service.api.base.operations import Operation
from webapp.service.api.reference.common import ABOUT, SECURITY_SCHEMES, STATUSES, VERSION
from webapp.service.api.reference.schemas import REF, Schemas, query_schema, text_schema
from webapp.service.domain.base.rate_limits import LIMITS

LIMIT_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
RETRY_HEADERS = (*LIMIT_HEADERS, "Retry-After")
_LEFT_OUT = "With a Connect token it may be left out: the token says."
_ANYTHING: Mapping[str, Any] = {"*/*": {"schema": {}}}


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
    """What it does, and how often it may be called, in sentences."""
    sentences = [operation.summary]
    if operation.limit:
        limit = LIMITS[operation.limit]
        whose = "for each external user" if operation.limit == "tokens" else "for each project and environment"
        sentences.append(f"Limited to {limit.requests:,} requests in {limit.window_s} seconds {whose}.")
    if operation.extension:
        sentences.append("An extension of Patchbay.")
    return " ".join(sentences)


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    """What stands in the path, the query and the headers."""
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
        "schema": text_schema(typed),
    }


def _body(operation: Operation, schemas: Schemas) -> dict[str, Any] | None:
    if operation.proxied and operation.method != "GET":
        return {"required": False, "content": {"application/json": {"schema": {}}, **_ANYTHING}}
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
    """Every error that it may answer."""
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
