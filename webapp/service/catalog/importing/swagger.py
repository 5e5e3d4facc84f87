"""Swagger 2.0 as OpenAPI 3: its bodies, parameters, addresses and security schemes in their newer form.

Schemas stay as they are and where they are, since references find them anywhere.
"""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.importing.refs import Refs

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_FORM, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_STYLES: Mapping[str, Mapping[str, Any]] = {
    "csv": {"explode": False},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "multi": {"explode": True},
}
_KEPT = ("name", "in", "description", "required", "deprecated")
_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}
_URLS = ("authorizationUrl", "tokenUrl", "scopes")


def converted(old: Mapping[str, Any]) -> dict[str, Any]:
    """The document ``old`` in the form of OpenAPI 3."""
    refs = Refs(old)
    new = {
        name: value for name, value in old.items() if name not in ("swagger", "host", "basePath", "schemes", "paths")
    }
    definitions = refs.object(old.get("securityDefinitions"))
    paths = refs.object(old.get("paths"))
    return {
        **new,
        "openapi": "3.0.3",
        "servers": [{"url": url} for url in _servers(old)],
        "paths": {path: _path(old, refs, refs.object(item)) for path, item in paths.items()},
        "components": {"securitySchemes": {name: _scheme(refs.object(node)) for name, node in definitions.items()}},
    }


def _servers(old: Mapping[str, Any]) -> list[str]:
    host, base = old.get("host"), str(old.get("basePath") or "/").rstrip("/")
    if not isinstance(host, str) or not host:
        return [base or "/"]
    schemes = [scheme for scheme in _list(old.get("schemes")) if scheme in ("https", "http")]
    return [f"{scheme}://{host}{base}" for scheme in sorted(schemes, reverse=True) or ["https"]]


def _path(old: Mapping[str, Any], refs: Refs, item: Mapping[str, Any]) -> dict[str, Any]:
    shared = _list(item.get("parameters"))
    operations = {method: item[method] for method in METHODS if isinstance(item.get(method), Mapping)}
    return {method: _operation(old, refs, operation, shared) for method, operation in operations.items()}


def _operation(old: Mapping[str, Any], refs: Refs, operation: Mapping[str, Any], shared: list[Any]) -> dict[str, Any]:
    parameters = {}
    for node in (*shared, *_list(operation.get("parameters"))):
        parameter = refs.object(node)
        parameters[parameter.get("name"), parameter.get("in")] = parameter
    listed = list(parameters.values())
    consumes = _list(operation.get("consumes")) or _list(old.get("consumes"))
    produces = _list(operation.get("produces")) or _list(old.get("produces")) or ["application/json"]
    kept = {name: value for name, value in operation.items() if name not in ("parameters", "consumes", "responses")}
    kept["parameters"] = [_parameter(each) for each in listed if each.get("in") in ("path", "query", "header")]
    kept["responses"] = {
        str(code): _response(refs.object(response), produces)
        for code, response in refs.object(operation.get("responses")).items()
    }
    if body := _body(listed, consumes):
        kept["requestBody"] = body
    return kept


def _parameter(old: Mapping[str, Any]) -> dict[str, Any]:
    style = _STYLES.get(str(old.get("collectionFormat", "csv")), {}) if old.get("type") == "array" else {}
    return {**{name: old[name] for name in _KEPT if name in old}, **style, "schema": _schema(old)}


def _schema(old: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a parameter, which stood in the parameter itself."""
    kept = {name: value for name, value in old.items() if name not in (*_KEPT, "collectionFormat", "schema")}
    return {"type": "string", "format": "binary"} if kept.get("type") == "file" else kept


def _body(parameters: list[Mapping[str, Any]], consumes: list[Any]) -> dict[str, Any] | None:
    bodies = [each for each in parameters if each.get("in") == "body"]
    if bodies:
        media = {kind: {"schema": bodies[0].get("schema", {})} for kind in consumes or ["application/json"]}
        return {**{name: bodies[0][name] for name in _KEPT[2:] if name in bodies[0]}, "content": media}
    fields = [each for each in parameters if each.get("in") == "formData"]
    if not fields:
        return None
    has_file = any(each.get("type") == "file" for each in fields)
    kind = _MULTIPART if has_file or (_MULTIPART in consumes and _FORM not in consumes) else _FORM
    schema = {
        "type": "object",
        "properties": {
            str(each.get("name")): {**_schema(each), "description": each.get("description", "")} for each in fields
        },
        "required": [each.get("name") for each in fields if each.get("required") is True],
    }
    encoding = {
        str(each.get("name")): style
        for each in fields
        if (style := {**_parameter(each)}) and each.get("type") == "array"
    }
    styles = {
        name: {key: style[key] for key in ("style", "explode") if key in style} for name, style in encoding.items()
    }
    return {"content": {kind: {"schema": schema, "encoding": styles}}}


def _response(old: Mapping[str, Any], produces: list[Any]) -> dict[str, Any]:
    schema = old.get("schema")
    return {"content": {str(kind): {"schema": schema} for kind in produces}} if isinstance(schema, Mapping) else {}


def _scheme(old: Mapping[str, Any]) -> dict[str, Any]:
    about = {name: old[name] for name in ("description",) if name in old}
    if old.get("type") == "basic":
        return {"type": "http", "scheme": "basic", **about}
    if old.get("type") == "oauth2":
        flow = str(old.get("flow"))
        return {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): {n: old[n] for n in _URLS if n in old}}, **about}
    return dict(old)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
