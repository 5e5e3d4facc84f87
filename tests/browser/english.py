"""What a page of another language says in English although its message is translated, or was never marked as one.

A message that waits for its translation stands in English, and that is fine (``make messages`` lists it).
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from tests import messages as wanted
from webapp.kit import message_files, translation

TRANSLATIONS = Path(translation.__file__).parent.parent / "translations"
# Every text and spoken attribute, but for code, names, and what has a language of its own.
TEXTS = """() => {
    const foreign =
        "script, style, template, noscript, code, pre, kbd, samp, textarea, [lang]:not(html), [translate=no]";
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
        if (!walker.currentNode.parentElement.closest(foreign)) texts.push(walker.currentNode.data);
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder], [alt]"))
        for (const name of ["aria-label", "title", "placeholder", "alt"])
            if (!element.closest(foreign) && element.hasAttribute(name)) texts.push(element.getAttribute(name));
    return [...texts, document.title];
}"""
WORDS = re.compile(
    r"\b(the|and|of|is|are|with|your|you|this|that|it|to|has|have|had|its|which|not|yet|does|will|were|when|what|who|"
    r"been|their|there|here|by|only)\b"
)


FILLED = re.compile(r"%\\\(\w+\\\)s|\\\{\w*\\\}")  # as re.escape writes placeholders
NAMES = {"Schedule"}  # apps whose name is a message as well


@cache
def messages(tag: str) -> dict[str, str]:
    """Every message without a plural, by its English."""
    return message_files.pairs(sorted((TRANSLATIONS / tag).glob("*.po")))


@cache
def waiting(tag: str) -> re.Pattern[str]:
    """What stands in English until somebody translates it; a placeholder is filled with anything."""
    texts = [
        form for domain in wanted.DOMAINS for message in wanted.waiting(tag, domain) for form in wanted.forms(message)
    ]
    patterns = (FILLED.sub(".*", re.escape(" ".join(text.split()))) for text in texts)
    return re.compile("|".join(patterns) or "(?!)")


def left(page: Any, tag: str) -> list[str]:
    """The English texts of ``page``, which is in the language ``tag``."""
    texts = {" ".join(text.split()) for text in page.evaluate(TEXTS)} - NAMES
    english = (text for text in texts if messages(tag).get(text, text) != text or reads_like_english(text))
    return sorted(text for text in english if not waiting(tag).fullmatch(text))


def reads_like_english(text: str) -> bool:
    return len(set(WORDS.findall(text.lower()))) >= 2
