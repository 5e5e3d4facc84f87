"""What pages, apps and the API say that a language does not translate yet: ``make messages`` lists it.

A message that waits is shown in English, so it stops nobody's change. A release has none waiting: with ``--release``
the list ends in an error where it is not empty.
"""

import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po

from webapp.kit import translation

ROOT = Path(__file__).parent.parent
DOMAINS = {"pages": ("templates", "webapp"), "apps": ("webapp/service/catalog",), "api": ("webapp/service",)}
Key = tuple[Any, str | None]  # a message, which is a pair where it has a plural, and its context
OTHERS = [tag for tag in translation.LANGUAGES if tag != translation.DEFAULT]
KEYWORDS: dict[str, Any] = {**DEFAULT_KEYWORDS, "lazy": None, "count_of": (2, 3), "lazy_pgettext": ((1, "c"), 2)}


@cache
def english() -> dict[str, dict[Key, None]]:
    """By domain: the messages that stand in templates, modules and facts."""
    return {domain: dict.fromkeys(messages_of(domain)) for domain in DOMAINS}


def messages_of(domain: str) -> Iterator[Key]:
    """The messages of ``domain`` as they stand there, one after another; the same one may come again."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["babel"]["mappings"]
    by_pattern = {pattern: mapping for mapping in mappings for pattern in _patterns(mapping["pattern"])}
    methods = [(pattern, mapping["method"]) for pattern, mapping in by_pattern.items()]
    for folder in DOMAINS[domain]:
        for _file, _line, message, _comments, context in extract_from_dir(
            ROOT / folder, methods, by_pattern, keywords=KEYWORDS
        ):
            yield message, context


@cache
def catalog(tag: str, domain: str) -> Catalog:
    """The message file of a language for one domain; reading it takes a third of a second."""
    with (ROOT / "webapp" / "translations" / tag / f"{domain}.po").open("rb") as file:
        return read_po(file, locale=tag, abort_invalid=True)


def waiting(tag: str, domain: str) -> list[Any]:
    """The messages of ``domain`` that the language lacks, as a whole or in one of their forms, or has as a guess."""
    translated = {(message.id, message.context): message for message in catalog(tag, domain) if message.id}
    return [key[0] for key in english()[domain] if not is_translated(translated.get(key))]


def obsolete(tag: str, domain: str) -> list[Any]:
    """The messages of the language that nothing says any more; ``make messages`` removes them."""
    known = english()[domain]
    return [message.id for message in catalog(tag, domain) if message.id and (message.id, message.context) not in known]


def is_translated(message: Message | None) -> bool:
    """Whether every form is there and not marked as a guess."""
    return message is not None and not message.fuzzy and all(forms(message.string))


def forms(text: Any) -> tuple[str, ...]:
    """The singular and the plurals of a message or of its translation."""
    return text if isinstance(text, tuple) else (text,)


def main(arguments: Sequence[str]) -> int:
    """Print what waits, by language and domain; 1 with ``--release`` where anything does."""
    total = 0
    for tag in OTHERS:
        for domain in DOMAINS:
            messages = waiting(tag, domain)
            total += len(messages)
            print(f"{tag} {domain}: {len(messages)} of {len(english()[domain])} wait")
            for message in messages:
                print(f"    {forms(message)[0]}")
    return 1 if total and "--release" in arguments else 0


def _patterns(pattern: str | list[str]) -> list[str]:
    return [pattern] if isinstance(pattern, str) else pattern


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
