"""Converts the texts of a piece to plain text, without Markdown and HTML markup."""

import re

_FENCE = re.compile(r"```[a-z]*[ \t]*\n?(.*?)```", re.DOTALL)
_CODE = re.compile(r"`([^`\n]*)`")
# None of these backtracks over what it has matched: the texts are untrusted, and a few kilobytes could block us.
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^)\[\]]*\)")
_LINK = re.compile(r"\[([^\[\]]+)\]\(([^)\s\[\]]*)(?:\s[^)\[\]]*)?\)")
_BREAK = re.compile(r"<br\s*/?>|</(?:p|li|div|tr|h[1-6])>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.{1,500}?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*])[*_](?=[^\s*_])([^*_\n]+?)(?<=[^\s*_])[*_](?![\w*])")
_HEADING = re.compile(r"^\s{0,8}#{1,6}\s+", re.MULTILINE)
_RULE = re.compile(r"^[^\S\n]*([-*_][^\S\n]*){3,}$", re.MULTILINE)
_INVISIBLE = re.compile(r"[^\S\n]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\ufeff]")
_ENDPOINT = re.compile(r"\{\{\s*(webhookUrl|webhook_url|appWebhookUrl)\s*\}\}")
ENDPOINT_WORDS = "(the address that its page shows once it is deployed)"
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_OF_FLOWS = re.compile(r"\{\{\s*pausedFlowTimeoutDays\s*\}\}")  # how long a flow may pause
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDS = (".", "!", "?", "…", ":", "。", "！", "？")
_IDEOGRAPHIC = "\u3000"  # letters from here on belong to languages that end sentences with 。
MOST = 4_000


def plain(text: object, most: int = MOST) -> str:
    """``text`` without markup, with its line breaks; empty if it is not a string. Links show their text and URL."""
    if not isinstance(text, str):
        return ""
    text = _CONTROL.sub("", text[: 4 * MOST].replace("\r\n", "\n").replace("\t", " "))
    text = _CODE.sub(r"\1", _FENCE.sub(r"\1", text))
    text = _LINK.sub(_link, _IMAGE.sub(r"\1", text))
    text = _RULE.sub("", _HEADING.sub("", _TAG.sub("", _BREAK.sub("\n", text))))
    text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\2", text))
    text = _SENTENCE.sub(_of_calls, _ENDPOINT.sub(ENDPOINT_WORDS, text))
    lines = [_INVISIBLE.sub(" ", line).strip() for line in text.split("\n")]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def line(text: object, most: int = 1_000) -> str:
    """As :func:`plain`, in one line."""
    return " ".join(plain(text, most).split())


def sentence(text: object, most: int = 1_000) -> str:
    """As :func:`line`, with a full stop; empty for an empty text."""
    return ended(line(text, most))


def ended(words: str) -> str:
    """``words`` with a full stop unless they end with punctuation; empty if they are empty."""
    if not words or words.endswith(_ENDS):
        return words
    return f"{words}。" if words[-1] > _IDEOGRAPHIC else f"{words}."


def label(name: str) -> str:
    """A name as a label: ``customerId`` is "Customer id"."""
    words = " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in _WORD.findall(name))
    return (words[:1].upper() + words[1:])[:100] or "Value"


def _of_calls(sentence: re.Match[str]) -> str:
    return "" if _OF_FLOWS.search(sentence[0]) else sentence[0]


def _link(match: re.Match[str]) -> str:
    words, address = match[1], match[2]
    return words if not address.startswith("http") or address in words else f"{words} ({address})"
