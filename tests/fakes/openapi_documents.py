"""Documents for the tests of importing."""

import json
from typing import Any

from webapp.service.catalog.importing import documents, plans
from webapp.service.catalog.importing.actions import Action
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.plans import Plan
from webapp.service.catalog.importing.records import Options

ADDRESS = "https://docs.acme.example/openapi.json"
ME: dict[str, Any] = {"/me": {"get": {"operationId": "getMe", "summary": "Get me", "responses": {"200": {}}}}}
KEY: dict[str, Any] = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}


def root(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A document of OpenAPI 3.1 with these paths, whose accounts have a key."""
    schemes = more.pop("schemes", KEY)
    schemas = more.pop("schemas", {})
    return {
        "openapi": "3.1.0",
        "info": {"title": "Acme", "version": "1", "description": "Orders of a shop."},
        "servers": [{"url": "https://api.acme.example/v1"}],
        "components": {"securitySchemes": schemes, "schemas": schemas},
        "paths": {**ME, **paths},
        **more,
    }


def document(paths: dict[str, Any], **more: Any) -> Document:
    """The same, as it is read."""
    return documents.read(json.dumps(root(paths, **more)).encode(), ADDRESS)


def planned(paths: dict[str, Any], options: Options | None = None, **more: Any) -> Plan:
    """The plan of importing it as acme."""
    return plans.plan(document(paths, **more), "acme", options or Options())


def action(operation: dict[str, Any], method: str = "get", path: str = "/things", **more: Any) -> Action:
    """The action that one operation becomes."""
    plan = planned({path: {method: {"operationId": "doIt", **operation}}}, **more)
    assert [each.reason for each in plan.left] == []
    return next(each for each in plan.actions if each.operation.operation_id == "doIt")


def reason(operation: dict[str, Any], method: str = "get", path: str = "/things") -> str:
    """Why one operation becomes no action."""
    (left,) = planned({path: {method: operation}}).left
    return left.reason


def query(name: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A parameter of the query."""
    return {"name": name, "in": "query", "schema": schema, **more}


def body(schema: dict[str, Any], kind: str = "application/json", **media: Any) -> dict[str, Any]:
    """A body of one media type."""
    return {"requestBody": {"content": {kind: {"schema": schema, **media}}}}
