"""The message files of every language: what they fill in is what English does, and for a release they are complete."""

import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog

from tests import messages
from tests.messages import DOMAINS, OTHERS, catalog, forms
from webapp.kit import translation

FILLED = re.compile(r"%\(\w+\)s|\{\w*\}|</?[a-z]+[^>|]*>")
COUNTS = {"{count}", "%(count)s", "%(num)s"}  # which words may stand for


@pytest.mark.release
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_says_everything_and_nothing_more(tag: str, domain: str) -> None:
    assert messages.waiting(tag, domain) == []
    assert messages.obsolete(tag, domain) == []


@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_fills_in_what_english_does(tag: str) -> None:
    wrong = {text: form for domain in DOMAINS for text, form in differing(catalog(tag, domain))}
    assert wrong == {}


def differing(translated: Catalog) -> Iterator[tuple[str, str]]:
    """The English and the translation of each form that fills in something else."""
    for message in translated:
        filled = set(FILLED.findall(forms(message.id)[-1])) if message.id else set()
        for form in forms(message.string) if message.id else ():
            there = set(FILLED.findall(form))
            if form and (there - filled or (filled - there) - (COUNTS if message.pluralizable else set())):
                yield forms(message.id)[-1], form


def test_every_domain_has_messages() -> None:
    for domain in DOMAINS:
        some = set[messages.Key]()
        for message in messages.messages_of(domain):  # whose end is a while away
            some.add(message)
            if len(some) > 100:
                break
        assert len(some) > 100, domain


def test_a_message_without_a_translation_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    english = {domain: {("A sentence that nobody translated.", None): None} for domain in DOMAINS}
    monkeypatch.setattr(messages, "english", lambda: english)
    assert messages.waiting("de", "pages") == ["A sentence that nobody translated."]
    assert "Close" in messages.obsolete("de", "pages")
    assert (messages.main([]), messages.main(["--release"])) == (0, 1)


def test_a_word_of_ours_and_the_same_word_of_an_app_are_each_said_as_they_are_meant() -> None:
    translation.speak("fr")
    assert (translation.pgettext("date", "To"), translation.translated("To")) == ("Au", "À")
    translation.speak(translation.DEFAULT)


@pytest.mark.parametrize(
    ("tag", "message", "by_context"),
    [
        ("de", "Runs", {"log entries": "Läufe", "trigger": "Läuft"}),
        ("fr", "Connected", {"time": "Connecté", "apps": "Connectées"}),
        ("es", "None", {"account": "Ninguna", "authorization": "Ninguna"}),
        ("ja", "Connected", {"time": "接続日時", "apps": "接続済み"}),
    ],
)
def test_a_word_with_two_meanings_has_two_translations(tag: str, message: str, by_context: dict[str, str]) -> None:
    translation.speak(tag)
    assert {context: translation.pgettext(context, message) for context in by_context} == by_context
    assert str(translation.lazy_pgettext(*next((context, message) for context in by_context))) in by_context.values()
    translation.speak(translation.DEFAULT)
