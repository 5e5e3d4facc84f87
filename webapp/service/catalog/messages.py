"""Extracts the texts of apps and components for gettext's message files; Babel extraction methods.

From ``app.toml`` they extract descriptions, words of scopes, names of scope profiles, and fields. From components they
extract the constants that are names, descriptions or labels, and from declared components the members of these names.
"""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from webapp.kit.translation import without_link
from webapp.service.catalog.hosted_servers import server_facts
from webapp.service.components.declared.templates import Hole, parse, texts_in

Message = tuple[int, str, str, list[str]]  # line, function, message, comments
_REFUSING = {"advice", "other", "words"}
_SAID = {"name", "description", "label", "content", "words"}


def facts(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The messages of an ``app.toml`` or ``categories.toml``. Raises :class:`tomllib.TOMLDecodeError`."""
    read = tomllib.loads(file.read().decode("utf-8"))
    for text in dict.fromkeys((*_of_facts(read), *_of_facts(server_facts(read) or {}))):
        yield 1, "", text, []


def components(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The messages of a module with components or their props. Raises :class:`SyntaxError`."""
    for node in ast.walk(ast.parse(file.read())):
        pairs: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Call):
            pairs = [(keyword.arg or "", keyword.value) for keyword in node.keywords]
            pairs += [("label", node.args[0])] if getattr(node.func, "id", "") == "Option" else []
        elif isinstance(node, ast.ClassDef):
            assigned = [part for part in node.body if isinstance(part, ast.Assign)]
            pairs = [(getattr(part.targets[0], "id", ""), part.value) for part in assigned]
        for name, value in pairs:
            text = value.value if isinstance(value, ast.Constant) else None
            if name in _SAID and isinstance(text, str) and text[:1].isupper():
                yield value.lineno, "", without_link(text)[0], []


def declared(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The messages of a declared component or a file that several share. Raises :class:`tomllib.TOMLDecodeError`."""
    for text in dict.fromkeys(_said_in(tomllib.loads(file.read().decode("utf-8")))):
        yield 1, "", text, []


def refusals(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The error sentences of a declared component, with placeholders named after their paths.

    Raises :class:`tomllib.TOMLDecodeError`.
    """
    for text in dict.fromkeys(_refusals_in(tomllib.loads(file.read().decode("utf-8")))):
        parts = parse(text).parts
        if any(isinstance(part, str) and part.strip() for part in parts):  # else the whole text comes from the app
            yield 1, "", "".join(part if isinstance(part, str) else f"{{{_place(part)}}}" for part in parts), []


def _refusals_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _refusals_in(item)
    elif isinstance(value, Mapping):
        for name, member in value.items():
            if name in _REFUSING:
                yield from texts_in(member)
            else:
                yield from _refusals_in(member)


def _place(hole: Hole) -> str:
    """The placeholder's name as in :mod:`webapp.kit.sentence_messages`: ``answer_error`` for ``$answer.error``."""
    return re.sub(r"\W+", "_", "_".join((hole.path.root, *hole.path.steps))).strip("_").lower()


def _said_in(value: Any) -> Iterator[str]:
    """The texts of members such as ``name`` and ``label``, without links, and without texts that have placeholders."""
    if isinstance(value, list):
        for item in value:
            yield from _said_in(item)
    elif isinstance(value, Mapping):
        for name, member in value.items():
            text = without_link(member)[0] if name in _SAID and isinstance(member, str) else ""
            if text[:1].isupper() and "{" not in text:
                yield text
            yield from _said_in(member)


def _of_facts(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from (spec[key] for key in ("description",) if spec.get(key))
    for category in spec.get("categories", []):
        if isinstance(category, Mapping):
            yield category["name"]
    for field in spec.get("fields", []):
        yield from (field[key] for key in ("label", "description", "advice") if field.get(key))
    for oauth in (spec.get("oauth", {}), spec.get("sign_in", {}).get("oauth", {})):
        yield from (scope["words"] for scope in oauth.get("scopes", []))
        yield from (profile["name"].replace("_", " ").capitalize() for profile in oauth.get("scope_profiles", []))
