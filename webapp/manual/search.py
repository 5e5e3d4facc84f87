"""Searching the manual: sections in which every word of a query occurs, best first.

A word may stand anywhere in a heading or a text, in either case. What is found is plain text, cut into pieces with and
without a match, which the template escapes and marks.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from webapp.manual.markdown import Section
from webapp.manual.pages import Page

MOST = 30
_WORDS, _LENGTH, _AROUND = 8, 60, 110


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found. ``heading`` and ``excerpt`` are pieces of text and whether each one matches."""

    page: str
    url: str
    heading: tuple[tuple[str, bool], ...]
    excerpt: tuple[tuple[str, bool], ...]


def search(pages: Iterable[Page], query: str) -> list[Hit]:
    """At most :data:`MOST` sections, best first; none for a query without a word."""
    words = [word[:_LENGTH] for word in query.split()[:_WORDS]]
    if not words:
        return []
    patterns = [re.compile(re.escape(word), re.IGNORECASE) for word in words]
    phrase = re.compile(r"[\W_]+".join(map(re.escape, words)), re.IGNORECASE)
    rated = [(_rate(section, patterns, phrase), page, section) for page in pages for section in page.document.sections]
    best = sorted((entry for entry in rated if entry[0]), key=lambda entry: -entry[0])
    any_word = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
    return [_hit(page, section, any_word, phrase) for _, page, section in best[:MOST]]


def headings(pages: Iterable[Page], query: str) -> list[tuple[str, str, str]]:
    """The title of the page, the heading and the address of sections whose heading, with the title of its page, holds
    every word of ``query``; first those of a whole page. Faster than :func:`search`, since no text is read."""
    words = [word[:_LENGTH].casefold() for word in query.split()[:_WORDS]]
    if not words:
        return []
    fitting = [
        (section.level, page.document.title, section.heading, f"{page.url}#{section.anchor}")
        for page in pages
        for section in page.document.sections
        if words[0] in section.heading.casefold()
        and all(word in f"{page.document.title} {section.heading}".casefold() for word in words)
    ]
    return [hit[1:] for hit in sorted(fitting, key=lambda hit: hit[0])[:MOST]]


def _rate(section: Section, patterns: list[re.Pattern[str]], phrase: re.Pattern[str]) -> int:
    """How well a section fits; 0 unless every word occurs. A heading counts for more than the text below it, and the
    words side by side for more than apart."""
    rate = 0
    for pattern in patterns:
        in_heading, in_text = pattern.search(section.heading), len(pattern.findall(section.text))
        if not in_heading and not in_text:
            return 0
        rate += (20 if in_heading else 0) + min(in_text, 5)
    rate += (40 if phrase.search(section.heading) else 0) + 8 * min(len(phrase.findall(section.text)), 3)
    return rate + 5 - section.level


def _hit(page: Page, section: Section, pattern: re.Pattern[str], phrase: re.Pattern[str]) -> Hit:
    text = " ".join(section.text.split())
    first = phrase.search(text) or pattern.search(text)
    start = text.rfind(" ", 0, max(first.start() - _AROUND, 0)) + 1 if first else 0
    end = text.rfind(" ", 0, start + 3 * _AROUND) if len(text) > start + 3 * _AROUND else len(text)
    excerpt = f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
    heading = tuple(_pieces(section.heading, pattern))
    return Hit(page.document.title, f"{page.url}#{section.anchor}", heading, tuple(_pieces(excerpt, pattern)))


def _pieces(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in pattern.finditer(text):
        yield text[at : match.start()], False
        yield match[0], True
        at = match.end()
    yield text[at:], False
