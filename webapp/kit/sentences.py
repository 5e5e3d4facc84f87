"""Sentences that the service writes in English, put into the language of who reads them.

The API, logs and what is stored stay English: pages recognise a sentence by how it stands in the source. What was
written as ``f"Enter the {field.label}."`` is the message ``Enter the {field_label}.`` of a file ``api.po``, for which
:mod:`webapp.kit.sentence_messages` finds it. What nobody here wrote, such as a provider's own words, stays as it is,
even where we use such a word: words that are no sentence are translated alone, or where a message is filled with ours.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from webapp.kit import message_files

PLACE = re.compile(r"\{(\w+)\}")
_BETWEEN = re.compile(r"(?<=[.!?]) ")
_LONGEST = 1_000  # characters; what is longer is a log, or an answer that was copied
_PARTS = 8
_END = re.compile(r"[.!?]$")
_WORDS = {"app", "kind", "label", "manner", "provider", "reason", "title", "what", "words"}
"""What is filled in with words of ours, by the end of its name: the label of a field, the kind of a value."""


def marked(words: str) -> str:
    """``words`` themselves: what fills in a sentence and is translated too."""
    return words


class _Form(NamedTuple):
    """A message with something to fill in: how it is recognised, and what is said instead."""

    pattern: re.Pattern[str]
    other: str

    def filled(self, values: Mapping[str, str]) -> str:
        """What is said instead, with ``values`` by name."""
        return PLACE.sub(lambda place: values[place[1]], self.other)


@cache
def of_folder(folder: Path) -> "Sentences":
    """The sentences of the language in ``folder``; facts of apps are what some are filled with."""
    files = [folder / "apps.po", folder / "api.po"]
    return Sentences(message_files.pairs(file for file in files if file.is_file()))


class Sentences:
    """The sentences of one language. Threads may share it."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        """``messages`` are by their English; what fills in ``{name}`` is looked up too."""
        self._whole = {english: other for english, other in messages.items() if not PLACE.search(english)}
        self._forms = defaultdict[str, list[_Form]](list)  # by the first or last word that is not filled in
        for english in sorted(messages, key=lambda text: -len(PLACE.sub("", text))):
            if english not in self._whole and PLACE.sub("", english).strip():  # else it would be anything
                self._forms[_key(english)].append(_form(english, messages[english]))
        self.translated = lru_cache(maxsize=4096)(self._translated)

    def _translated(self, text: str) -> str:
        """``text`` as far as it is known; itself where nothing of it is."""
        if len(text) > _LONGEST:
            return text
        whole = self._whole.get(text) or self._sentence(text)
        if whole is None:
            parts, known = self._parts(text)
            whole = self._sentence(text, loosely=True) if known < len(parts) else None
            whole = whole or (" ".join(parts) if known else None)
        return text if whole is None else whole.replace("。 ", "。")

    def _sentence(self, text: str, *, loosely: bool = False) -> str | None:
        """``text`` as one message; only ``loosely``, when what is filled in holds unknown sentences."""
        if text in self._whole and _END.search(text):
            return self._whole[text]
        words = text.split(" ")
        for key in dict.fromkeys((words[0], words[-1], "")):
            for form in self._forms.get(key, ()):
                match = form.pattern.fullmatch(text)
                if match is None:
                    continue
                by_name = {name: self._value(name, value) for name, value in match.groupdict().items()}
                unknown = (value for name, value in by_name.items() if value == match[name])
                if loosely or not any(map(_BETWEEN.search, unknown)):
                    return form.filled(by_name)
        return None

    def _value(self, name: str, text: str) -> str:
        """What is filled in under ``name``: a sentence, or words of ours, or several of them."""
        if name.rpartition("_")[2] not in _WORDS:
            return self._sentence(text) or text
        for mark in ("; ", ", "):
            facts = [self._whole.get(fact) for fact in text.split(mark)]
            if len(facts) > 1 and None not in facts:
                return mark.join(map(str, facts))
        return self._whole.get(text) or self._sentence(text) or text

    def _parts(self, text: str) -> tuple[list[str], int]:
        """``text`` as several messages, each as long as can be; and how many of them are known."""
        rest, parts, known = _BETWEEN.split(text, _PARTS), list[str](), 0
        while rest:
            for end in range(len(rest), 0, -1):
                words = " ".join(rest[:end])
                other = self._sentence(words) or self._behind_a_name(words)
                if other is not None or end == 1:
                    parts.append(words if other is None else other)
                    known, rest = known + (other is not None), rest[end:]
                    break
        return parts, known

    def _behind_a_name(self, text: str) -> str | None:
        name, _colon, words = text.partition(": ")
        other = self._sentence(words) if words else None
        return None if other is None else f"{name}: {other}"


def _form(english: str, other: str) -> _Form:
    pieces = PLACE.split(english)  # text and names by turns
    seen, pattern = set[str](), ""
    for position, piece in enumerate(pieces):
        if position % 2 == 0:
            pattern += re.escape(piece)
        else:
            pattern += f"(?P={piece})" if piece in seen else f"(?P<{piece}>.*?)"
            seen.add(piece)
    return _Form(re.compile(pattern, re.DOTALL), other)


def _key(english: str) -> str:
    words = english.split(" ")
    return next((word for word in (words[0], words[-1]) if not PLACE.search(word)), "")
