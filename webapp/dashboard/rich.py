"""Untrusted texts as safe HTML: descriptions with Markdown links, and JSON in colours."""

import json
import re
from typing import Any

from markupsafe import Markup, escape

_LINK = re.compile(
    r"\[([^\[\]\n]{1,200})\]\((https?://[^\s()<>\"']{1,1000})\)|(https?://[^\s<>\"')]{1,1000}[^\s<>\"').,;:!?])"
)
_CODE = re.compile(r"`([^`\n]{1,200})`")
_STRING = re.compile(r"(&#34;(?:\\.|(?!&#34;).)*&#34;)(\s*:)?", re.DOTALL)  # of JSON that is escaped already
LONGEST_JSON = 200_000


def rich(text: str) -> Markup:
    """``text`` escaped, its links and its `code` made into elements."""
    pieces, at = [], 0
    for match in _LINK.finditer(text):
        pieces.append(_plain(text[at : match.start()]))
        pieces.append(_link(match[2] or match[3], match[1] or match[3]))
        at = match.end()
    return Markup("").join([*pieces, _plain(text[at:])])


def json_html(value: Any, longest: int = LONGEST_JSON) -> Markup:
    """``value`` as indented JSON with coloured keys and strings; a very long one is cut."""
    text = json.dumps(value, ensure_ascii=False, indent=2)[:longest]
    return Markup(_STRING.sub(_coloured, str(escape(text))))  # noqa: S704  # only what was escaped, and our own tags


def json_is_cut(value: Any, longest: int = LONGEST_JSON) -> bool:
    """Whether :func:`json_html` leaves an end of ``value`` out."""
    return len(json.dumps(value, ensure_ascii=False, indent=2)) > longest


def _coloured(match: re.Match[str]) -> str:
    return f'<span class="{"k" if match[2] else "s"}">{match[1]}</span>{match[2] or ""}'


def _plain(text: str) -> Markup:
    parts = _CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def _link(address: str, label: str) -> Markup:
    return Markup('<a class="link" href="{}" rel="noopener noreferrer" target="_blank">{}</a>').format(address, label)
