"""Words of a document as people read them here: labels of names, short sentences of long Markdown, keys of actions."""

import re

_FENCE = re.compile(
    r"```.*?(?:```|\Z)|<(script|style)\b.*?(?:</\1>|\Z)|<!--.*?(?:-->|\Z)|^[ \t]*\|.*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^ {0,3}#{1,6} .*$", re.MULTILINE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,1000}(?:\s[^()]{0,200})?\)")
_EMPHASIS = re.compile(r"(?<!\w)(_{1,3})([^_\s](?:[^_\n]{0,300}[^_\s])?)\1(?!\w)")
_MARKS = re.compile(r"[*`]+|^ {0,3}(?:#{1,6}|>|[-+]|\d{1,3}\.) +", re.MULTILINE)
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " ", "&amp;": "&"}
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WRITTEN = ("API", "HTML", "ID", "IDs", "IP", "JSON", "PDF", "SMS", "SSH", "SQL", "UI", "URI", "URL", "UUID", "XML")
_CAPITALS = {word.lower(): word for word in _WRITTEN}
_LONGEST_KEY = 60
_READ = 20_000  # characters of a description that are looked at


def sentences(text: object, most: int = 240) -> str:
    """The first sentences of a description, without its markup, as many as fit into ``most`` characters."""
    if not isinstance(text, str):
        return ""
    plain = _FENCE.sub("\n", text[:_READ])
    plain = _LINK.sub(r"\1", _TAG.sub(" ", plain))
    plain = _EMPHASIS.sub(r"\2", plain)
    for entity, character in _ENTITIES.items():
        plain = plain.replace(entity, character)
    plain = _HEADING.sub("\n", plain) if _HEADING.sub("", plain).strip() else plain
    paragraphs = [" ".join(_INVISIBLE.sub(" ", part).split()) for part in re.split(r"\n\s*\n", _MARKS.sub("", plain))]
    first = next((paragraph for paragraph in paragraphs if paragraph), "")
    parts = _END.split(first)
    kept = parts[0]
    for part in parts[1:]:
        if len(kept) + 1 + len(part) > most:
            break
        kept = f"{kept} {part}"
    if len(kept) > most:
        kept = kept[: most - 1].rsplit(" ", 1)[0].rstrip(",;:- ") + "…"
    return kept.rstrip(":").strip()


def one_sentence(text: object) -> str:
    """The same, with a full stop; empty for nothing."""
    kept = sentences(text)
    return kept if not kept or kept.endswith((".", "!", "?", "…")) else f"{kept}."


def parts(name: str) -> list[str]:
    """The words that a name is made of."""
    return _PART.findall(name) or ([re.sub(r"\W+", "", name)] if re.sub(r"\W+", "", name) else [])


def label(name: str) -> str:
    """``name`` as a label: ``customerId`` is "Customer ID"."""
    shown = [
        _CAPITALS.get(part.lower(), part if part.isupper() and len(part) > 1 else part.lower()) for part in parts(name)
    ]
    text = " ".join(shown)
    return (text[:1].upper() + text[1:])[:100] or "Value"


def key(name: str) -> str:
    """``name`` as that of a component, which begins with a letter; empty where nothing is left."""
    pieces = [piece for part in parts(name) if (piece := re.sub(r"[^a-z0-9]", "", part.lower()))]
    while pieces and not pieces[0][0].isalpha():
        pieces[0] = pieces[0].lstrip("0123456789")
        pieces = pieces if pieces[0] else pieces[1:]
    text = "-".join(pieces)
    return text if len(text) <= _LONGEST_KEY else text[:_LONGEST_KEY].rsplit("-", 1)[0]


def prop(name: str) -> str:
    """``name`` as that of a prop: letters, digits and underscores, beginning with a letter."""
    text = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:90]
    return text if text[:1].isalpha() else f"p_{text}" if text else "value"


def field(name: str) -> str:
    """``name`` as that of a field of an account: in lower case, with underscores."""
    pieces = re.sub(r"([A-Za-z])(?=[A-Z][a-z])|([a-z0-9])(?=[A-Z])", r"\1\2_", name)
    text = re.sub(r"[^a-z0-9]+", "_", pieces.lower()).strip("_")[:50].rstrip("_")
    text = text if text[:1].isalpha() else f"f_{text}".rstrip("_")
    return f"its_{text}"[:50] if text.startswith("oauth_") else text


class Names:
    """Names that are each given once. ``known`` are those of an earlier time, by what they stand for."""

    def __init__(self, known: dict[str, str], reserved: tuple[str, ...] = (), between: str = "_") -> None:
        self.known, self._between = known, between
        self._taken = {*reserved, *known.values()}

    def name(self, meaning: str, wanted: str, other: str) -> str:
        """That of ``meaning``: the one it had, else ``wanted``, else that with ``other`` or a number behind it."""
        if meaning in self.known:
            return self.known[meaning]
        candidates = [wanted, f"{wanted}{self._between}{other}"] if other else [wanted]
        free = next((name for name in candidates if name not in self._taken), "")
        number = 2
        while not free:
            numbered = f"{wanted}{self._between}{number}"
            free, number = "" if numbered in self._taken else numbered, number + 1
        self._taken.add(free)
        self.known[meaning] = free
        return free
