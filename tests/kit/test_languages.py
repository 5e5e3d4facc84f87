"""The message files of every language are complete: all that people read, with all that is filled in, and plurals."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po

from webapp.kit import translation

ROOT = Path(__file__).parents[2]
DOMAINS = {"pages": ("templates", "webapp"), "apps": ("webapp/service/catalog",), "api": ("webapp/service",)}
OTHERS = [tag for tag in translation.LANGUAGES if tag != translation.DEFAULT]
FILLED = re.compile(r"%\(\w+\)s|\{\w*\}|</?[a-z]+[^>|]*>")
KEYWORDS: dict[str, Any] = {**DEFAULT_KEYWORDS, "lazy": None, "count_of": (2, 3)}
COUNTS = {"{count}", "%(count)s", "%(num)s"}  # which words may stand for


@pytest.fixture(scope="module")
def english() -> dict[str, dict[Any, None]]:
    """By file: the messages that stand in templates and modules, as ``make messages`` finds them."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["babel"]["mappings"]
    by_pattern = {pattern: mapping for mapping in mappings for pattern in patterns(mapping["pattern"])}
    methods = [(pattern, mapping["method"]) for pattern, mapping in by_pattern.items()]
    return {
        domain: {
            message: None
            for folder in folders
            for _file, _line, message, _comments, _context in extract_from_dir(
                ROOT / folder, methods, by_pattern, keywords=KEYWORDS
            )
        }
        for domain, folders in DOMAINS.items()
    }


def patterns(pattern: str | list[str]) -> list[str]:
    return [pattern] if isinstance(pattern, str) else pattern


def catalog(tag: str, domain: str) -> Catalog:
    with (ROOT / "webapp" / "translations" / tag / f"{domain}.po").open("rb") as file:
        return read_po(file, locale=tag, abort_invalid=True)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_says_everything_and_nothing_more(tag: str, domain: str, english: Any) -> None:
    translated = {message.id: message for message in catalog(tag, domain) if message.id}
    assert [text for text in english[domain] if not said(translated.get(text))] == []
    assert [text for text in translated if text not in english[domain]] == []


@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_fills_in_what_english_does(tag: str) -> None:
    wrong = {text: form for domain in DOMAINS for text, form in differing(catalog(tag, domain))}
    assert wrong == {}


def said(message: Message | None) -> bool:
    """Whether every form is there and not marked as a guess."""
    return message is not None and not message.fuzzy and all(forms(message.string))


def forms(text: Any) -> tuple[str, ...]:
    return text if isinstance(text, tuple) else (text,)


def differing(messages: Catalog) -> Iterator[tuple[str, str]]:
    for message in messages:
        filled = set(FILLED.findall(forms(message.id)[-1])) if message.id else set()
        for form in forms(message.string) if message.id else ():
            there = set(FILLED.findall(form))
            if there - filled or (filled - there) - (COUNTS if message.pluralizable else set()):
                yield forms(message.id)[-1], form


def test_a_word_of_ours_and_the_same_word_of_an_app_are_each_said_as_they_are_meant() -> None:
    translation.speak("fr")
    assert (translation.gettext("To"), translation.translated("To")) == ("Au", "À")
    translation.speak(translation.DEFAULT)
