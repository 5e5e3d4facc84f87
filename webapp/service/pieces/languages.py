"""A piece's own translations into the languages of our pages, by the English text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webapp.kit.translation import DEFAULT, LANGUAGES
from webapp.service.components.pieces import texts
from webapp.service.pieces.metadata import Description

_KEY = 512  # characters of an English text by which pieces know it
_SHOWN = (texts.line, texts.plain, texts.sentence, lambda text: texts.ended(texts.plain(text)))


def translations(description: Description) -> dict[str, dict[str, str]]:
    """The texts of the piece in each of its languages, by those in components."""
    english = list(dict.fromkeys(_texts(description)))
    translated = {
        language: dict(_in(description.languages.get(language), english))
        for language in LANGUAGES
        if language != DEFAULT
    }
    return {language: words for language, words in translated.items() if words}


def _in(translations: Any, english: Iterable[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(translations, Mapping):
        return
    for text in english:
        translation = translations.get(text[:_KEY])
        if isinstance(translation, str) and translation.strip() and translation != text:
            yield from ((shown(text), shown(translation)) for shown in _SHOWN if shown(text))


def _texts(description: Description) -> Iterator[str]:
    yield description.description
    for node in (*description.auth, *description.actions.values(), *description.triggers.values()):
        yield from _of(node)


def _of(node: Any) -> Iterator[str]:
    """The texts of an auth type, a part or a prop, and of its members."""
    if not isinstance(node, Mapping):
        return
    yield from (node[name] for name in ("displayName", "description") if isinstance(node.get(name), str))
    options = node.get("options")
    listed = options.get("options") if isinstance(options, Mapping) else None
    for option in listed if isinstance(listed, list) else ():
        if isinstance(option, Mapping) and isinstance(option.get("label"), str):
            yield option["label"]
    for name in ("username", "password"):
        yield from _of(node.get(name))
    for name in ("props", "properties"):
        inner = node.get(name)
        for each in inner.values() if isinstance(inner, Mapping) else ():
            yield from _of(each)
