"""Translates the service's English sentences on pages, after they were formatted.

The API, logs and stored texts are English; a page recognises a sentence by its message. The code
``f"Enter the {field.label}."`` has the message ``Enter the {field_label}.`` in ``api.po``, which
:mod:`webapp.kit.sentence_messages` extracts. Texts of others, such as a provider's messages, are left unchanged: words
that are no sentence are translated only if they are the whole text, or in placeholders that contain our own words.
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
_LONGEST = 1_000  # characters; a longer text is a log or a copied response
_PARTS = 8
_END = re.compile(r"[.!?]$")
_WORDS = {"app", "kind", "label", "manner", "provider", "reason", "title", "what", "words"}
"""The last words of the names of placeholders that contain our own words, such as the label of a field."""
_TRIGGERS = {"trigger_name", "before_name", "after_name"}
"""Placeholders with the name of a trigger, which is its component's until a person chooses another."""


def marked(words: str) -> str:
    """``words``, unchanged: marks words that are inserted into sentences, so that they are extracted."""
    return words


class _Form(NamedTuple):
    """A message with placeholders: the pattern that recognises it, and its translation."""

    pattern: re.Pattern[str]
    other: str

    def filled(self, values: Mapping[str, str]) -> str:
        """The translation with ``values`` in its placeholders."""
        return PLACE.sub(lambda place: values[place[1]], self.other)


@cache
def of_folder(folder: Path) -> "Sentences":
    """The sentences of the language in ``folder``, and the facts of apps, which placeholders may contain."""
    files = [folder / "apps.po", folder / "api.po"]
    return Sentences(message_files.pairs(file for file in files if file.is_file()))


class Sentences:
    """The sentences of one language. Safe to share between threads."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        """``messages`` are translations by their English, with placeholders such as ``{name}``."""
        self._whole = {english: other for english, other in messages.items() if not PLACE.search(english)}
        self._forms = defaultdict[str, list[_Form]](list)  # by the first or last word without a placeholder
        for english in sorted(messages, key=lambda text: -len(PLACE.sub("", text))):
            if english not in self._whole and PLACE.sub("", english).strip():  # else it would match any text
                self._forms[_key(english)].append(_form(english, messages[english]))
        self.translated = lru_cache(maxsize=4096)(self._translated)

    def _translated(self, text: str) -> str:
        """``text`` with its known sentences translated."""
        if len(text) > _LONGEST:
            return text
        whole = self._whole.get(text) or self._sentence(text)
        if whole is None:
            parts, known = self._parts(text)
            whole = self._sentence(text, loosely=True) if known < len(parts) else None
            whole = whole or (" ".join(parts) if known else None)
        return text if whole is None else whole.replace("。 ", "。")

    def _sentence(self, text: str, *, loosely: bool = False) -> str | None:
        """The translation of ``text`` as one message; ``loosely`` allows unknown sentences in placeholders."""
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
        """The translation of a placeholder's value: a sentence, or one or several of our own words."""
        if name.rpartition("_")[2] not in _WORDS and name not in _TRIGGERS:
            return self._sentence(text) or text
        for mark in ("; ", ", "):
            facts = [self._whole.get(fact) for fact in text.split(mark)]
            if len(facts) > 1 and None not in facts:
                return mark.join(map(str, facts))
        return self._whole.get(text) or self._sentence(text) or text

    def _parts(self, text: str) -> tuple[list[str], int]:
        """The translated parts of ``text``, each as long as possible, and how many of them are known."""
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
        return None if other is None else f"{self._whole.get(name, name)}: {other}"


def _form(english: str, other: str) -> _Form:
    pieces = PLACE.split(english)  # text and names, alternating
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
