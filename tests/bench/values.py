"""Values that fit the schemas of an OpenAPI document, the document's own examples first: the same ones for a seed.

An example or a default is taken if it is valid by the schema beside which it stands; else a value is made up. Of the
importer's code, only the reading of references is used, so that the two can disagree about everything else.
"""

import random
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from hypothesis.errors import HypothesisException
from jsonschema import Draft4Validator, Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing.exceptions import Unresolvable

from webapp.service.catalog.importing.documents import Document, Unresolved

_MOST_DEPTH = 6
_MOST_TRIES = 30
_FULL_DEPTH = 2  # above which optional members are filled in
_OPTIONAL = 0.5  # how often an optional member is filled in
_LETTERS = string.ascii_lowercase
_PRINTABLE = strategies.characters(min_codepoint=0x20, max_codepoint=0x7E)
_SETTINGS = settings(
    max_examples=20, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
_FORMATS = {
    "date-time": "2026-11-22T09:30:00Z", "date": "2026-11-22", "time": "09:30:00Z", "email": "ada@example.com",
    "uuid": "6f1c9b54-2d0f-4c29-9f6b-3f0d4f1f8a11", "uri": "https://example.com/a", "url": "https://example.com/a",
    "hostname": "example.com", "ipv4": "192.0.2.7", "ipv6": "2001:db8::7", "byte": "aGVsbG8=", "int64": "42",
    "int32": "42", "uint64": "42", "uint32": "42", "google-datetime": "2026-11-22T09:30:00Z", "google-duration": "3.5s",
    "google-fieldmask": "name",
}  # fmt: skip


class Values:
    """Makes values for the schemas of ``document``."""

    def __init__(self, document: Document, chosen: random.Random) -> None:
        self._refs, self._random = document.refs, chosen
        root = document.root
        self._known = {name: root[name] for name in ("components", "definitions") if name in root}
        self._draft: Any = Draft4Validator if str(root.get("openapi")).startswith("3.0") else Draft202012Validator

    def of_parameter(self, parameter: Mapping[str, Any]) -> Any:
        """A value of ``parameter``."""
        content = [self._refs.object(media) for media in self._refs.object(parameter.get("content")).values()]
        schema = content[0].get("schema", {}) if content else parameter.get("schema", {"type": "string"})
        return self._first_valid(schema, self._examples(parameter))

    def of_body(self, media: Mapping[str, Any]) -> Any:
        """A body of a media type."""
        return self._first_valid(media.get("schema", {}), self._examples(media))

    def is_valid(self, schema: Any, value: Any) -> bool:
        """Whether ``value`` fits; also where the schema itself cannot be used."""
        try:
            return bool(self._draft({**self._known, "allOf": [schema]}).is_valid(value))
        except (SchemaError, Unresolvable, re.error, TypeError, AttributeError, RecursionError):
            return True

    def _examples(self, node: Mapping[str, Any]) -> Iterator[Any]:
        if "example" in node:
            yield node["example"]
        for example in self._refs.object(node.get("examples")).values():
            yield self._refs.object(example).get("value")

    def _first_valid(self, schema: Any, examples: Iterator[Any]) -> Any:
        for example in examples:
            if example not in (None, "", [], {}) and self.is_valid(schema, example):
                return example
        made = [self._made(schema, 0)]
        while len(made) < _MOST_TRIES and not self.is_valid(schema, made[-1]):
            made.append(self._made(schema, 0))
        return made[-1]

    def _made(self, schema: Any, depth: int) -> Any:
        try:
            flat = self._flat(schema, 0)
        except Unresolved:
            return "text"
        written = [flat.get("example"), *_list(flat.get("examples")), flat.get("default")]
        for example in written:
            if example not in (None, "", [], {}) and self.is_valid(schema, example):
                return example
        if "const" in flat:
            return flat["const"]
        if choices := [each for each in _list(flat.get("enum")) if each not in (None, "")]:
            return self._random.choice(choices)
        types = _list(flat.get("type")) or [flat.get("type")]
        kind = next((each for each in types if each not in (None, "null")), None) or _implied(flat)
        if kind == "object":
            return self._object(flat, depth)
        if kind == "array":
            return self._array(flat, depth)
        if kind == "boolean":
            return self._random.random() < _OPTIONAL
        if kind in ("integer", "number"):
            return self._number(flat, kind)
        return self._text(flat)

    def _flat(self, schema: Any, depth: int) -> dict[str, Any]:
        """``schema`` with its parts, and of those that exclude each other one."""
        node = self._refs.object(schema)
        if depth > _MOST_DEPTH:
            return dict(node)
        flat: dict[str, Any] = {}
        parts = [self._flat(part, depth + 1) for part in _list(node.get("allOf"))]
        for word in ("oneOf", "anyOf"):
            variants = [each for each in _list(node.get(word)) if self._refs.object(each).get("type") != "null"]
            parts += [self._flat(self._random.choice(variants), depth + 1)] if variants else []
        for part in (*parts, {name: node[name] for name in node if name not in ("allOf", "oneOf", "anyOf")}):
            properties = {**_mapping(flat.get("properties")), **_mapping(part.get("properties"))}
            required = [*_list(flat.get("required")), *_list(part.get("required"))]
            flat = {**flat, **part}
            flat |= {"properties": properties} if properties else {}
            flat |= {"required": required} if required else {}
        return flat

    def _object(self, flat: Mapping[str, Any], depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        required = set(map(str, _list(flat.get("required"))))
        for name, schema in _mapping(flat.get("properties")).items():
            member = self._refs.object(schema)
            wanted = name in required or (depth < _FULL_DEPTH and self._random.random() < _OPTIONAL)
            if wanted and member.get("readOnly") is not True and (name in required or not member.get("deprecated")):
                value[name] = self._made(schema, depth + 1) if depth < _MOST_DEPTH else None
        more = flat.get("additionalProperties")
        if not value and isinstance(more, Mapping) and depth < _MOST_DEPTH:
            value["key"] = self._made(more, depth + 1)
        return {name: member for name, member in value.items() if member is not None}

    def _array(self, flat: Mapping[str, Any], depth: int) -> list[Any]:
        count = max(int(flat.get("minItems") or 1), 1)
        items = [self._made(flat.get("items", {}), depth + 1) for _ in range(count)] if depth < _MOST_DEPTH else []
        is_set = flat.get("uniqueItems") is True
        return [each for place, each in enumerate(items) if not is_set or each not in items[:place]]

    def _number(self, flat: Mapping[str, Any], kind: str) -> int | float:
        low, high = flat.get("minimum"), flat.get("maximum")
        low = low if isinstance(low, int | float) else flat.get("exclusiveMinimum")
        low = low if isinstance(low, int | float) and not isinstance(low, bool) else 1
        low = low + 1 if flat.get("exclusiveMinimum") not in (None, False) else low
        high = high if isinstance(high, int | float) else max(low, 1) + 40
        step = flat.get("multipleOf")
        if isinstance(step, int | float) and step >= 1:
            return -(-int(low) // int(step)) * int(step)
        number = self._random.randint(int(low), max(int(low), int(min(high, low + 1000))))
        return number if kind == "integer" or self._random.random() < _OPTIONAL else min(number + 0.5, high)

    def _text(self, flat: Mapping[str, Any]) -> str:
        least, most = flat.get("minLength"), flat.get("maxLength")
        least = max(least, 1) if isinstance(least, int) else 1
        if isinstance(pattern := flat.get("pattern"), str):
            return matching(pattern, self._random.randrange(2**32), least, most if isinstance(most, int) else 1000)
        if (known := _FORMATS.get(str(flat.get("format")))) is not None:
            return known
        text = "".join(self._random.choice(_LETTERS) for _ in range(max(least, 6)))
        return text[:most] if isinstance(most, int) else text


def matching(pattern: str, number: int, least: int = 0, most: int = 1000) -> str:
    """A text that the whole ``pattern`` matches, of so many characters; "text" where there is none to be found. It is
    the same for a ``number``."""
    found = list[str]()

    def keep(text: str) -> None:
        found.append(text)

    try:
        texts = strategies.from_regex(re.compile(pattern), fullmatch=True, alphabet=_PRINTABLE)
        _SETTINGS(seed(number)(given(texts)(keep)))()
    except (re.error, HypothesisException, OverflowError, ValueError):
        return "text"
    return next((text for text in found if least <= len(text) <= most), "text")


def _implied(flat: Mapping[str, Any]) -> str:
    if "properties" in flat or "additionalProperties" in flat:
        return "object"
    return "array" if "items" in flat else "string"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
