"""GraphQL schemas of providers, and what of a request's query and variables contradicts one."""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    OperationDefinitionNode,
    Undefined,
    build_schema,
    parse,
    type_from_ast,
    validate,
)
from graphql.utilities import build_client_schema

from tests import packages
from tests.sdks import Sdk
from webapp.service.components.declared import templates

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_OBJECT = re.compile(r"^(?:export )?(?:declare )?type (\w+) = (?:\w+ & )*\{$(.*?)^\};$", re.DOTALL | re.MULTILINE)
_ENUM = re.compile(r"^(?:export )?(?:declare )?enum (\w+) \{$(.*?)^\}", re.DOTALL | re.MULTILINE)
_SCALARS = re.compile(r"^(?:export )?(?:declare )?type Scalars = \{$(.*?)^\};$", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"""= ["']([A-Za-z_]\w*)["']""")
_UNION = re.compile(r"^(?:export )?(?:declare )?type (\w+) = (\w+(?: \| \w+)+);$", re.MULTILINE)
_MEMBER = re.compile(r"^\s*(\w+)(\??): (.+?);$", re.MULTILINE)
_WRAPPED = re.compile(r"(?:InputMaybe|Maybe)<(.+)>")
_LIST = re.compile(r"Array<(.+)>")
_SCALAR = re.compile(r"""Scalars\[["'](\w+)["']\].*""")
_BUILT_IN = frozenset(("ID", "String", "Boolean", "Int", "Float"))
_ROOTS = ("Query", "Mutation")


@functools.cache
def brought(sdk: Sdk) -> GraphQLSchema:
    """The schema in the first of the files of ``sdk``. Raises like :func:`tests.packages.archive`."""
    (text,) = packages.texts(packages.archive(sdk.package, sdk.version, sdk.integrity), sdk.files)
    return schema_of(text)


def schema_of(text: str) -> GraphQLSchema:
    """The schema in ``text``: in the schema language, as an answer to introspection, or as types of TypeScript."""
    if text.lstrip().startswith("{"):
        content = json.loads(text)
        return build_client_schema(content.get("data", content), assume_valid=True)
    return build_schema(sdl_of(text) if _OBJECT.search(text) else text, assume_valid=True)


def differences(schema: GraphQLSchema, request: Mapping[str, Any]) -> Iterator[str]:
    """What contradicts ``schema`` in the query and the variables of ``request``."""
    body = request["json"]
    template = templates.parse(body["query"])
    if any(not isinstance(part, str) for part in template.parts):
        yield "the query has placeholders"
        return
    try:
        document = parse("".join(str(part) for part in template.parts))
    except GraphQLError as error:
        yield f"the query cannot be read: {error.message}"
        return
    for mistake in validate(schema, document):
        yield f"the query: {mistake.message}"
    yield from _variables(schema, document, body.get("variables") or {})


def _variables(schema: GraphQLSchema, document: DocumentNode, sent: Mapping[str, Any]) -> Iterator[str]:
    kinds = {
        variable.variable.name.value: type_from_ast(schema, variable.type)
        for definition in document.definitions
        if isinstance(definition, OperationDefinitionNode)
        for variable in definition.variable_definitions or ()
    }
    for name, value in sent.items():
        if name not in kinds:
            yield f"the variable {name} is not in the query"
        else:
            yield from _value(kinds[name], value, name)


def _value(kind: Any, value: Any, above: str) -> Iterator[str]:
    if isinstance(kind, GraphQLNonNull):
        kind = kind.of_type
    if isinstance(kind, GraphQLList):
        for item in value if isinstance(value, list) else ():
            yield from _value(kind.of_type, item, above)
    if not isinstance(kind, GraphQLInputObjectType) or not isinstance(value, Mapping):
        return
    for name, member in value.items():
        if name not in kind.fields:
            yield f"the field {above}.{name} is unknown"
        else:
            yield from _value(kind.fields[name].type, member, f"{above}.{name}")
    for name, field in kind.fields.items():
        if isinstance(field.type, GraphQLNonNull) and field.default_value is Undefined and name not in value:
            yield f"the field {above}.{name} is required"


# --- GraphQL Code Generator's types ---


def sdl_of(text: str) -> str:
    """The schema of which GraphQL Code Generator made the TypeScript types in ``text``, in the schema language."""
    plain = _COMMENT.sub("", text)
    objects = {name: _MEMBER.findall(body) for name, body in _OBJECT.findall(plain) if name != "Scalars"}
    arguments = {
        _folded(name.removesuffix("Args")): members for name, members in objects.items() if name.endswith("Args")
    }
    unions = {
        name: of.split(" | ") for name, of in _UNION.findall(plain) if all(each in objects for each in of.split(" | "))
    }
    named = {name: {word for *_, of in members for word in re.findall(r"\w+", of)} for name, members in objects.items()}
    answers = _reached(_ROOTS, {**named, **{name: set(of) for name, of in unions.items()}})
    inputs = _reached([word for name in objects if name.endswith("Args") for word in named[name]], named)
    parts = [f"scalar {name}" for name in sorted(_scalars(plain) - _BUILT_IN)]
    parts += [f"union {name} = {' | '.join(of)}" for name, of in unions.items() if name in answers]
    for name, body in _ENUM.findall(plain):
        values = " ".join(_VALUE.findall(body))
        parts.append(f"enum {name} {{ {values} }}")
    for name in objects.keys() & (answers | inputs):
        takes = arguments if name in answers else {}
        members = [
            f"  {member}{_takes(takes.get(_folded(name + member), ()))}: {_type(of, optional)}"
            for member, optional, of in objects[name]
            if member != "__typename"
        ]
        kind = "type" if name in answers else "input"
        parts.append("\n".join((f"{kind} {name} {{", *members, "}")))
    return "\n".join(parts)


def _takes(arguments: Sequence[tuple[str, str, str]]) -> str:
    """The arguments of a field."""
    written = ", ".join(f"{name}: {_type(of, optional)}" for name, optional, of in arguments)
    return f"({written})" if written else ""


def _scalars(text: str) -> set[str]:
    found = _SCALARS.search(text)
    return set(re.findall(r"^(?: {2}| {4}|\t)(\w+):", found[1], re.MULTILINE)) if found else set()


def _reached(roots: Sequence[str], named: Mapping[str, set[str]]) -> set[str]:
    """The types that are named by ``roots``, by what these name, and so on."""
    reached, waiting = set[str](), list(roots)
    while waiting:
        name = waiting.pop()
        if name in named and name not in reached:
            reached.add(name)
            waiting += named[name]
    return reached


def _type(of: str, optional: str) -> str:
    if wrapped := _WRAPPED.fullmatch(of):
        return _type(wrapped[1], "?")
    if scalar := _SCALAR.fullmatch(of):
        text = scalar[1]
    elif items := _LIST.fullmatch(of):
        text = f"[{_type(items[1], '')}]"
    else:
        text = of if re.fullmatch(r"\w+", of) else "String"
    return text if optional else f"{text}!"


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
