"""YAML as data: what JSON can hold, read as YAML 1.2 does, so that ``no`` and ``12:30`` are texts.

The parser is PyYAML's, of which only the events are used: no tag makes an object. What a text may grow to by its
aliases is bounded, and nothing may hold itself.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MOST_NODES = 4_000_000
DEEPEST = 200
MOST_SECONDS = 60.0
_INTEGER = re.compile(r"[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BASES = {"0o": 8, "0x": 16}
_TOO_LARGE = "its aliases repeat so much that it would not fit into memory."


class YamlMistake(ValueError):
    """The text is no YAML that can be read. The message is the end of a sentence."""


@dataclass(slots=True)
class _Open:
    """A list or an object that is being read; ``nodes`` are those in it, with all that aliases repeat."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    key: str | None = None
    merged: list[Any] = field(default_factory=list)
    nodes: int = 1


def load(text: bytes) -> Any:
    """The data of the one document in ``text``. Raises :class:`YamlMistake`."""
    import yaml  # 30 ms that nobody else pays

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder().build(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" on line {mark.line + 1}" if mark is not None else ""
        raise YamlMistake(
            f"{getattr(error, 'problem', None) or 'it holds a character that may not stand there'}{place}."
        ) from None
    except (UnicodeDecodeError, RecursionError):
        raise YamlMistake("it is no UTF-8, or nested too deeply.") from None


class _Builder:
    """Makes data of the events of one document."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._root: Any = None
        self._documents = 0
        self._ends = time.monotonic() + MOST_SECONDS

    def build(self, events: Iterator[Any]) -> Any:
        """The data. Raises :class:`YamlMistake`, and what the parser does."""
        for event in events:
            getattr(self, f"_on_{type(event).__name__}", self._ignore)(event)
        return self._root

    def _ignore(self, event: Any) -> None:
        """The beginning and end of the stream and of its document."""

    def _on_DocumentStartEvent(self, _: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise YamlMistake("it holds several documents.")

    def _on_ScalarEvent(self, event: Any) -> None:
        plain = event.implicit[0] and not event.style
        value = _plain(event.value) if plain else event.value
        is_key = bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None
        if is_key:
            value = event.value
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._add(value, 1)

    def _on_SequenceStartEvent(self, event: Any) -> None:
        self._begin([], event.anchor)

    def _on_MappingStartEvent(self, event: Any) -> None:
        self._begin({}, event.anchor)

    def _on_SequenceEndEvent(self, _: Any) -> None:
        self._end()

    def _on_MappingEndEvent(self, _: Any) -> None:
        self._end()

    def _on_AliasEvent(self, event: Any) -> None:
        if any(each.anchor == event.anchor for each in self._open):
            raise YamlMistake("an alias leads to what holds it.")
        if event.anchor not in self._anchors:
            raise YamlMistake(f"the alias {event.anchor} leads nowhere.")
        self._add(*self._anchors[event.anchor])

    def _begin(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        if len(self._open) >= DEEPEST:
            raise YamlMistake("it is nested too deeply.")
        if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None:
            raise YamlMistake("the name of a member is a list or an object.")
        if time.monotonic() > self._ends:
            raise YamlMistake("it takes too long to read. Give it as JSON.")
        self._open.append(_Open(value, anchor))

    def _end(self) -> None:
        done = self._open.pop()
        if isinstance(done.value, dict):
            for other in done.merged:
                done.value |= {name: value for name, value in other.items() if name not in done.value}
        if done.anchor:
            self._anchors[done.anchor] = (done.value, done.nodes)
        self._add(done.value, done.nodes)

    def _add(self, value: Any, nodes: int) -> None:
        if not self._open:
            self._root = value
            return
        around = self._open[-1]
        around.nodes += nodes
        if around.nodes > MOST_NODES:
            raise YamlMistake(_TOO_LARGE)
        if isinstance(around.value, list):
            around.value.append(value)
        elif around.key is None:
            around.key = str(value)
        else:
            self._put(around, value)

    def _put(self, around: _Open, value: Any) -> None:
        assert isinstance(around.value, dict) and around.key is not None
        if around.key == "<<":
            around.merged += [
                each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)
            ]
        else:
            around.value[around.key] = value
        around.key = None


def _plain(text: str) -> Any:
    """What an unquoted scalar is (YAML 1.2.2, section 10.3.2)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text[2:], _BASES[text[:2]]) if text[:2] in _BASES else int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
