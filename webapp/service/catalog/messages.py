"""What apps and components say to people, for gettext's message files: methods of Babel's extraction.

Of ``app.toml``: descriptions, scopes in words, names of scope profiles, and fields. Of components: the constants that
stand where a name, a description or a label belongs, and in those that are data the members of such names.
"""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from webapp.kit.translation import without_link
from webapp.service.components.declared.templates import Hole, parse, texts_in

Message = tuple[int, str, str, list[str]]  # line, function, message, comments
_REFUSING = {"advice", "other", "words"}
_SAID = {"name", "description", "label", "content", "words"}


def facts(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The messages of a file of facts. Raises :class:`tomllib.TOMLDecodeError`."""
    for text in dict.fromkeys(_of_facts(tomllib.loads(file.read().decode("utf-8")))):
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
    """The messages of a component that is data, or of what several share. Raises :class:`tomllib.TOMLDecodeError`."""
    for text in dict.fromkeys(_said_in(tomllib.loads(file.read().decode("utf-8")))):
        yield 1, "", text, []


def refusals(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The sentences that a component which is data refuses with, what they fill in by its path's name.

    Raises :class:`tomllib.TOMLDecodeError`.
    """
    for text in dict.fromkeys(_refusals_in(tomllib.loads(file.read().decode("utf-8")))):
        parts = parse(text).parts
        if any(isinstance(part, str) and part.strip() for part in parts):  # else it says what the app says
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
    """As :mod:`webapp.kit.sentence_messages` names it: ``$answer.error`` is ``answer_error``."""
    return re.sub(r"\W+", "_", "_".join((hole.path.root, *hole.path.steps))).strip("_").lower()


def _said_in(value: Any) -> Iterator[str]:
    """What stands under a name for words, without its link; what is looked up, and so has a hole, is the app's own."""
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
    oauth = spec.get("oauth", {})
    yield from (scope["words"] for scope in oauth.get("scopes", []))
    yield from (profile["name"].replace("_", " ").capitalize() for profile in oauth.get("scope_profiles", []))
