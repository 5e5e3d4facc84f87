"""What a page of another language says in English: untranslated messages, and texts that read like English."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from webapp.kit import message_files

TRANSLATIONS = Path(message_files.__file__).parent.parent / "translations"
# Every text and spoken attribute, but for code and what has a language of its own.
TEXTS = """() => {
    const foreign = "script, style, template, noscript, code, pre, kbd, samp, textarea, [lang]:not(html)";
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


NAMES = {"Schedule"}  # apps whose name is a message as well


@cache
def messages(tag: str) -> dict[str, str]:
    """Every message without a plural, by its English."""
    return message_files.pairs(sorted((TRANSLATIONS / tag).glob("*.po")))


def left(page: Any, tag: str) -> list[str]:
    """The English texts of ``page``, which is in the language ``tag``."""
    texts = {" ".join(text.split()) for text in page.evaluate(TEXTS)} - NAMES
    return sorted(text for text in texts if messages(tag).get(text, text) != text or reads_like_english(text))


def reads_like_english(text: str) -> bool:
    return len(set(WORDS.findall(text.lower()))) >= 2
