"""What apps and components say to people, for gettext's message files: methods of Babel's extraction.

Of ``app.toml``: descriptions, scopes in words, names of scope profiles, and fields. Of components: the constants that
stand where a name, a description or a label belongs.
"""

import ast
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from webapp.kit.translation import without_link

Message = tuple[int, str, str, list[str]]  # line, function, message, comments
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
        elif isinstance(node, ast.ClassDef):
            assigned = [part for part in node.body if isinstance(part, ast.Assign)]
            pairs = [(getattr(part.targets[0], "id", ""), part.value) for part in assigned]
        for name, value in pairs:
            text = value.value if isinstance(value, ast.Constant) else None
            if name in _SAID and isinstance(text, str) and text[:1].isupper():
                yield value.lineno, "", without_link(text)[0], []


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
