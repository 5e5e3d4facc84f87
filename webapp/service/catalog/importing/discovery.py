"""A discovery document of a Google API in the form of OpenAPI 3.

Google describes its APIs in a format of its own (Google API Discovery Service, version 1): methods within resources,
parameters and schemas of JSON Schema draft 3, of which a method says by its id which members of a body it requires. A
method that takes or gives a file becomes a second operation. Operations of one method and path, such as ``v2/{+name}``
of several resources, are told apart by a fragment of the path, which is never sent.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from webapp.service.catalog.importing import words

KIND = "discovery#restDescription"
_SCHEME = "oauth2"
_PARENTS = ("users", "projects", "accounts", "locations")  # which tell nothing of what is done
_HOLE = re.compile(r"\{\+?(\w+)\}")
_MOST_DEPTH = 50
_KEPT = ("type", "description", "format", "pattern", "minimum", "maximum", "enum", "default", "readOnly", "deprecated")
_OF_ALL = ("fields",)
_VERBS = {"insert": "create", "del": "delete", "patch": "update"}
_OF_ONE = ("get", "create", "insert", "update", "patch", "delete")


def is_discovery(root: Mapping[str, Any]) -> bool:
    """Whether it is such a document."""
    return root.get("kind") == KIND or ("discoveryVersion" in root and "rootUrl" in root)


def converted(old: Mapping[str, Any]) -> dict[str, Any]:
    """The document ``old`` in the form of OpenAPI 3."""
    root = str(old.get("rootUrl") or "")
    below = str(old.get("servicePath") or "").strip("/")
    paths: dict[str, dict[str, Any]] = {}
    for names, method in _methods(old, ()):
        for path, verb, operation in _operations(old, names, method, below):
            taken = verb in paths.setdefault(path, {})
            paths.setdefault(f"{path}#{operation['operationId']}" if taken else path, {})[verb] = operation
    scopes = _object(_object(_object(old.get("auth")).get("oauth2")).get("scopes"))
    about = {name: str(_object(facts).get("description") or "") for name, facts in scopes.items()}
    flow = {
        "authorizationUrl": "https://accounts.google.com/o/oauth2/v2/auth",
        "tokenUrl": "https://oauth2.googleapis.com/token",
        "scopes": about,
    }
    documentation = old.get("documentationLink")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": str(old.get("title") or old.get("name") or "API"),
            "version": f"{old.get('version') or ''} {old.get('revision') or ''}".strip(),
            "description": old.get("description") or "",
        },
        "servers": [{"url": root.rstrip("/")}] if root else [],
        **({"externalDocs": {"url": documentation}} if isinstance(documentation, str) else {}),
        "components": {
            "schemas": {name: _schema(schema, 0) for name, schema in _object(old.get("schemas")).items()},
            "securitySchemes": {_SCHEME: {"type": "oauth2", "flows": {"authorizationCode": flow}}} if about else {},
        },
        "paths": paths,
    }


def _methods(node: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every method, with the names of the resources that it is in, and its own."""
    for name, method in _object(node.get("methods")).items():
        if isinstance(method, Mapping):
            yield (*names, str(name)), method
    for name, resource in _object(node.get("resources")).items():
        if isinstance(resource, Mapping) and len(names) < _MOST_DEPTH:
            yield from _methods(resource, (*names, str(name)))


def _operations(
    old: Mapping[str, Any], names: tuple[str, ...], method: Mapping[str, Any], below: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The path, the HTTP method and the operation of ``method``, and of its upload and its download."""
    verb, id_ = str(method.get("httpMethod") or "GET").lower(), str(method.get("id") or ".".join(names))
    path = f"/{f'{below}/' if below else ''}{str(method.get('path') or '').lstrip('/')}"
    operation = _operation(old, names, method, id_, path)
    yield path, verb, operation
    upload = _object(_object(_object(method.get("mediaUpload")).get("protocols")).get("simple")).get("path")
    if isinstance(upload, str) and upload.startswith("/"):
        content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        how = {"name": "uploadType", "in": "query", "required": True, "schema": {"type": "string", "enum": ["media"]}}
        file = {
            **{name: value for name, value in operation.items() if name != "requestBody"},
            "operationId": f"{id_}.upload",
            "summary": f"{operation['summary']} with a file",
            "parameters": [*operation["parameters"], how],
            "requestBody": {"required": True, "content": content},
        }
        yield f"{upload}#media", verb, file
    if method.get("supportsMediaDownload") is True:
        what = {"name": "alt", "in": "query", "required": True, "schema": {"type": "string", "enum": ["media"]}}
        media = {"200": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}
        yield (
            f"{path}#media",
            verb,
            {
                **operation,
                "operationId": f"{id_}.download",
                "summary": f"Download: {operation['summary'][:1].lower()}{operation['summary'][1:]}",
                "parameters": [*operation["parameters"], what],
                "responses": media,
            },
        )


def _operation(
    old: Mapping[str, Any], names: tuple[str, ...], method: Mapping[str, Any], id_: str, path: str
) -> dict[str, Any]:
    of_all = {name: facts for name, facts in _object(old.get("parameters")).items() if name in _OF_ALL}
    parameters = {**of_all, **_object(method.get("parameters"))}
    operation: dict[str, Any] = {
        "operationId": id_,
        "summary": _summary(names),
        "description": method.get("description") or "",
        "tags": [words.label(" ".join(names[:-1])) if names[:-1] else str(old.get("title") or "API")],
        "parameters": [_parameter(name, _object(facts)) for name, facts in parameters.items()],
        "responses": {"200": _answer(method)},
        **({"deprecated": True} if method.get("deprecated") is True else {}),
    }
    known = {each["name"] for each in operation["parameters"]}
    operation["parameters"] += [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in dict.fromkeys(_HOLE.findall(path))
        if name not in known
    ]
    request = _object(method.get("request")).get("$ref")
    if isinstance(request, str):
        schema = _required_by(id_, old, request)
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    scopes = method.get("scopes")
    if isinstance(scopes, list) and scopes:
        operation["security"] = [{_SCHEME: [str(scope)]} for scope in scopes]
    return operation


def _summary(names: tuple[str, ...]) -> str:
    """What a method does: ``spreadsheets.values.batchUpdate`` is "Batch update spreadsheet values"."""
    *resources, name = names
    verb = words.label(_VERBS.get(name, name))
    of = [resource for resource in resources[:-1] if resource not in _PARENTS][-1:]
    nouns = [words.label(resource).lower() for resource in (*of, *resources[-1:])]
    last = _singular(nouns[-1]) if nouns and name in _OF_ONE else "".join(nouns[-1:])
    in_part = ["in part"] if name == "patch" else []
    return " ".join(filter(None, [verb, *map(_singular, nouns[:-1]), last, *in_part]))


def _singular(noun: str) -> str:
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    if noun.endswith(("sses", "xes", "ches")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def _parameter(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    schema = _schema({member: value for member, value in facts.items() if member not in ("required", "repeated")}, 0)
    repeated = facts.get("repeated") is True
    return {
        "name": name,
        "in": "path" if facts.get("location") == "path" else "query",
        "required": facts.get("required") is True,
        "description": facts.get("description") or "",
        "deprecated": facts.get("deprecated") is True,
        "schema": {"type": "array", "items": schema} if repeated else schema,
    }


def _answer(method: Mapping[str, Any]) -> dict[str, Any]:
    answer = _object(method.get("response")).get("$ref")
    if not isinstance(answer, str):
        return {}
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{answer}"}}}}


def _required_by(id_: str, old: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The schema ``name``, with the members that the method ``id_`` requires."""
    members = _object(_object(_object(old.get("schemas")).get(name)).get("properties"))
    required = [
        str(member)
        for member, schema in members.items()
        if id_ in (_object(_object(schema).get("annotations")).get("required") or ())
    ]
    reference = {"$ref": f"#/components/schemas/{name}"}
    return {"allOf": [reference], "required": required} if required else reference


def _schema(old: Any, depth: int) -> dict[str, Any]:
    """A schema of draft 3 as one of OpenAPI 3.1."""
    node = _object(old)
    if depth > _MOST_DEPTH:
        return {}
    if isinstance(node.get("$ref"), str):
        about = {"description": node["description"]} if isinstance(node.get("description"), str) else {}
        return {"$ref": f"#/components/schemas/{node['$ref']}", **about}
    new = {name: node[name] for name in _KEPT if name in node}
    if new.get("type") == "any":
        del new["type"]
    for limit in ("minimum", "maximum"):
        if isinstance(new.get(limit), str):
            new[limit] = int(new[limit]) if re.fullmatch(r"-?\d{1,15}", new[limit]) else None
    if isinstance(new.get("default"), str) and new.get("type") in ("boolean", "integer"):
        new["default"] = _default(new["default"], str(new["type"]))
    if "properties" in node:
        new["properties"] = {name: _schema(each, depth + 1) for name, each in _object(node["properties"]).items()}
    if "items" in node:
        new["items"] = _schema(node["items"], depth + 1)
    if "additionalProperties" in node:
        new["additionalProperties"] = _schema(node["additionalProperties"], depth + 1)
    return {name: value for name, value in new.items() if value is not None}


def _default(text: str, type_: str) -> Any:
    if type_ == "boolean":
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,15}", text) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
