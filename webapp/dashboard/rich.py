"""Descriptions that may hold Markdown links, as HTML that can hold nothing else."""

import re

from markupsafe import Markup, escape

_LINK = re.compile(
    r"\[([^\[\]\n]{1,200})\]\((https?://[^\s()<>\"']{1,1000})\)|(https?://[^\s<>\"')]{1,1000}[^\s<>\"').,;:!?])"
)
_CODE = re.compile(r"`([^`\n]{1,200})`")


def rich(text: str) -> Markup:
    """``text`` escaped, its links and its `code` made into elements."""
    pieces, at = [], 0
    for found in _LINK.finditer(text):
        pieces.append(_plain(text[at : found.start()]))
        pieces.append(_link(found[2] or found[3], found[1] or found[3]))
        at = found.end()
    return Markup("").join([*pieces, _plain(text[at:])])


def _plain(text: str) -> Markup:
    parts = _CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def _link(address: str, label: str) -> Markup:
    return Markup('<a class="link" href="{}" rel="noopener noreferrer" target="_blank">{}</a>').format(address, label)
