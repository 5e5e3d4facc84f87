"""Templates: texts with placeholders such as ``{title}`` or ``{$answer.items.0.name|or('nothing')}``.

:func:`fill` fills JSON whose texts are templates, such as the body of a request or the result of a component.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.service.components.declared.filters import FILTERS, as_text
from webapp.service.outbound.bodies import at_path

Scope = Mapping[str, Any]
_TOKEN = re.compile(
    r"""\s*(?:(?P<name>\$?[A-Za-z_]\w*)|"(?P<quoted>[^"]*)"|'(?P<text>[^']*)'|(?P<number>-?\d+)|(?P<mark>[.|(),]))"""
)
_STEP = re.compile(r'\.(?:(?P<plain>[\w$@:-]+)|"(?P<quoted>[^"]+)")')
_HOLE = re.compile(r"""\{\{|\}\}|\{((?:[^{}'"]|'[^']*'|"[^"]*")*)\}|[{}]""")
_NOTHING = (None, "")
_CONSTANTS = {"true": True, "false": False}
EMPTY: tuple[Any, ...] = (None, "", [], {})  # values that count as none


class TemplateMistake(ValueError):
    """The template is invalid. The message is one sentence for its author."""


@dataclass(frozen=True, slots=True)
class Path:
    """The path of a value: ``root`` is a prop, or a template name such as ``$answer``."""

    root: str
    steps: tuple[str, ...] = ()

    def of(self, scope: Scope) -> Any:
        """The value at the path, or None."""
        value = scope.get(self.root)
        for step in self.steps:
            value = value.get(step) if isinstance(value, Mapping) else at_path(value, step) if value else None
        return value


@dataclass(frozen=True, slots=True)
class Hole:
    """A placeholder: a path and the filters for its value, each with its arguments."""

    path: Path
    filters: tuple[tuple[str, tuple[Path | str | int, ...]], ...] = ()

    def of(self, scope: Scope) -> Any:
        """The filtered value."""
        value = self.path.of(scope)
        for name, arguments in self.filters:
            resolved = [argument.of(scope) if isinstance(argument, Path) else argument for argument in arguments]
            value = FILTERS[name].apply(value, *resolved)
        return value

    @property
    def has_default(self) -> bool:
        """Whether it has a default."""
        return any(name == "or" for name, _ in self.filters)

    @property
    def roots(self) -> Iterator[str]:
        """The names that it uses."""
        yield self.path.root
        for _name, arguments in self.filters:
            yield from (argument.root for argument in arguments if isinstance(argument, Path))


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed text: literal parts and placeholders."""

    parts: tuple[str | Hole, ...]

    @property
    def roots(self) -> Iterator[str]:
        """The names that its placeholders use."""
        for part in self.parts:
            if isinstance(part, Hole):
                yield from part.roots

    def value(self, scope: Scope) -> Any:
        """The value of a single placeholder, or the text; None if a placeholder within a text has no value."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Hole):
            return self.parts[0].of(scope)
        texts = []
        for part in self.parts:
            value = part if isinstance(part, str) else part.of(scope)
            if isinstance(part, Hole) and value in _NOTHING and not part.has_default:
                return None
            texts.append("" if value is None else as_text(value))
        return "".join(texts)

    def text(self, scope: Scope) -> str:
        """The text; placeholders without a value are empty."""
        values = (part if isinstance(part, str) else part.of(scope) for part in self.parts)
        return "".join("" if value is None else as_text(value) for value in values)


@functools.lru_cache(maxsize=8192)
def parse(text: str) -> Template:
    """Parse ``text``. Raises :class:`TemplateMistake`."""
    parts: list[str | Hole] = []
    plain, end = "", 0
    for match in _HOLE.finditer(text):
        plain, end = plain + text[end : match.start()], match.end()
        if match[1] is None and len(match[0]) == 1:
            raise TemplateMistake(f"{text!r} has a brace without its partner; write {{{{ and }}}} for braces.")
        if match[1] is None:
            plain += match[0][0]
            continue
        parts += [plain, _hole(match[1])] if plain else [_hole(match[1])]
        plain = ""
    plain += text[end:]
    return Template((*parts, plain) if plain or not parts else tuple(parts))


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts in JSON, except names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from texts_in(member)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_in(item)


def _hole(text: str) -> Hole:
    path, at = _path(text, 0)
    filters = []
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        name = _TOKEN.match(text, token.end()) if token and token["mark"] == "|" else None
        if name is None or not name["name"]:
            raise TemplateMistake(f"{{{text}}} cannot be read; write {{name}}, {{a.b}} or {{a|filter}}.")
        arguments, at = _arguments(text, name.end())
        if name["name"] not in FILTERS:
            raise TemplateMistake(f"there is no filter {name['name']}; there are {', '.join(sorted(FILTERS))}.")
        fewest, most = FILTERS[name["name"]].arguments
        if not fewest <= len(arguments) <= most:
            raise TemplateMistake(f"the filter {name['name']} takes {fewest} to {most} arguments.")
        filters.append((name["name"], arguments))
    return Hole(path, tuple(filters))


def _path(text: str, at: int) -> tuple[Path, int]:
    token = _TOKEN.match(text, at)
    if token is None or not token["name"]:
        raise TemplateMistake(f"{{{text}}} must begin with the name of a prop, or with $answer, $item and so on.")
    steps, at = [], token.end()
    while step := _STEP.match(text, at):
        steps.append(step["plain"] or step["quoted"])
        at = step.end()
    return Path(token["name"], tuple(steps)), at


def _arguments(text: str, at: int) -> tuple[tuple[Path | str | int, ...], int]:
    opening = _TOKEN.match(text, at)
    if opening is None or opening["mark"] != "(":
        return (), at
    arguments: list[Path | str | int] = []
    at = opening.end()
    while token := _TOKEN.match(text, at):
        if token["name"] in _CONSTANTS:
            arguments.append(_CONSTANTS[token["name"]])
            at = token.end()
        elif token["name"]:
            path, at = _path(text, at)
            arguments.append(path)
        elif not token["mark"]:
            words = token["text"] if token["text"] is not None else token["quoted"]
            arguments.append(int(token["number"]) if token["number"] else words)
            at = token.end()
        mark = _TOKEN.match(text, at)
        if mark is None or mark["mark"] not in (",", ")"):
            break
        at = mark.end()
        if mark["mark"] == ")":
            return tuple(arguments), at
    raise TemplateMistake(f"the arguments in {{{text}}} cannot be read; write them as ('text', 3, $item.name).")


def shape(value: Any, scope: Scope) -> Any:
    """Fill ``value``, JSON whose texts are templates; empty results are null."""
    if isinstance(value, str):
        return parse(value).value(scope)
    if isinstance(value, Mapping):
        return {name: shape(member, scope) for name, member in value.items()}
    return [shape(item, scope) for item in value] if isinstance(value, Sequence) else value


def fill(value: Any, scope: Scope) -> Any:
    """Fill ``value`` like :func:`shape`, but leave out members and items that become empty.

    None and an empty text are empty, and so is a list or an object whose content all became empty. Values that are
    written as empty stay, and so does an empty list or object from a placeholder.
    """
    if isinstance(value, str):
        return parse(value).value(scope)
    if isinstance(value, Mapping):
        filled = {name: fill(member, scope) for name, member in value.items()}
        return _kept(value, {name: member for name, member in filled.items() if _stays(value[name], member)})
    if isinstance(value, Sequence):
        filled_items = [(item, fill(item, scope)) for item in value]
        return _kept(value, [item for written, item in filled_items if _stays(written, item)])
    return value


def _stays(written: Any, filled: Any) -> bool:
    return filled not in (None, "") or written in EMPTY


def _kept(written: Any, filled: Any) -> Any:
    """``filled``; None if all written content became empty."""
    return None if written and not filled else filled
