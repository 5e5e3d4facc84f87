"""Draws logos as small, static SVG: a brand's mark, a Simple Icons path in its colour, or a letter on a coloured tile.

Marks are the files in ``marks/``, each with its source and terms in ``marks/sources.toml``. Logos are drawn when the
catalog is built, because the icon package is too large to load at run time. Whatever an ``app.toml`` contains, the SVG
has no scripts, links or styles.
"""

import hashlib
import re
import sys
import tomllib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from webapp.service.catalog.spec import Logo

MARKS = Path(__file__).parent / "marks"
LETTER_COLORS = ("#0f766e", "#1d4ed8", "#6d28d9", "#9d174d", "#9a3412", "#3f6212", "#0e7490", "#4338ca")

_MARK = re.compile(r'<svg [^>]*viewBox="(?P<box>[^"]+)"[^>]*>(?P<body>.*)</svg>', re.DOTALL)
_FILL = re.compile(r'^<svg [^>]*?(?P<fill> fill="[^"]+")')
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz0-9eE+.,\s-]+")
_ICON_PATH = re.compile(r'<path d="([^"]+)"/>')
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24" role="img">'
    "<title>{title}</title>{drawing}</svg>"
)


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon of the package: a path in a 24 × 24 box, and the brand's colour."""

    path: str
    color: str


_loaded: dict[str, Icon | None] = {}


def source() -> str:
    """The icon package with its version and the state of the marks, for the catalog's fingerprint."""
    marks = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(MARKS.glob("*.svg"))))
    return f"simpleicons {version('simpleicons')} marks {marks.hexdigest()[:10]}"


def exists(logo: Logo) -> bool:
    """Whether the logo can be drawn: always for a letter, and for an icon or a mark if there is one."""
    if logo.mark is not None:
        return (MARKS / f"{logo.mark}.svg").is_file()
    return logo.icon is None or icon(logo.icon) is not None


def of_brand(slug: str) -> Logo | None:
    """The logo of the brand that is called ``slug``: its mark or its icon; None without either."""
    mark, icon = MARKS / f"{slug}.svg", Logo(icon=slug.replace("_", ""))
    if mark.parent == MARKS and mark.is_file():
        return Logo(mark=slug)
    return icon if exists(icon) else None


def of_letter(slug: str, name: str) -> Logo:
    """The logo of an app without a mark: the first letter or digit of its ``name``, in a colour of its ``slug``."""
    letter = next((character for character in name if character.isalnum()), "A").upper()[:1]
    return Logo(letter=letter, color=LETTER_COLORS[zlib.crc32(slug.encode()) % len(LETTER_COLORS)])


def letters() -> Mapping[str, str]:
    """By app: why it shows a letter in place of its brand's mark."""
    sources = tomllib.loads((MARKS / "sources.toml").read_text("utf-8"))
    return {str(slug): str(reason) for slug, reason in sources["letters"].items()}


def svg(name: str, logo: Logo) -> str:
    """The SVG document for the app called ``name``. Raises ``ValueError`` for an icon or mark that does not exist."""
    if logo.mark is not None:
        return _marked(name, logo.mark)
    if logo.icon is None:
        return _SVG.format(title=escape(name), drawing=_tile(logo.letter or "", logo.color or "#000000"))
    shape = icon(logo.icon)
    if shape is None:
        raise ValueError(f"there is no icon {logo.icon}")
    return _SVG.format(title=escape(name), drawing=f'<path fill="{logo.color or shape.color}" d="{shape.path}"/>')


def _marked(name: str, mark: str) -> str:
    document = (MARKS / f"{mark}.svg").read_text("utf-8") if exists(Logo(mark=mark)) else ""
    shape, filled = _MARK.search(document), _FILL.match(document)
    if shape is None:
        raise ValueError(f"there is no mark {mark}")
    head, _, tail = _SVG.format(title=escape(name), drawing=shape["body"]).partition('viewBox="0 0 24 24"')
    return f'{head}viewBox="{shape["box"]}"{filled["fill"] if filled else ""}{tail}'


def icon(slug: str) -> Icon | None:
    """The icon with that slug, or None if the package does not have it as one plain path."""
    load([slug])
    return _loaded[slug]


def load(slugs: Iterable[str]) -> None:
    """Load icons from the package, all at once: it takes 18 MB of memory, which are freed afterwards."""
    missing = set(slugs) - _loaded.keys()
    if not missing:
        return
    from simpleicons.all import icons

    by_slug = {icon.slug: icon for icon in icons.values() if icon.slug in missing}
    _loaded.update({slug: _plain(by_slug[slug]) if slug in by_slug else None for slug in missing})
    for name in ("simpleicons.all", "simpleicons"):
        sys.modules.pop(name, None)


def digest(document: str) -> str:
    """A short hash of an SVG, for a URL that browsers may cache for ever."""
    return hashlib.sha256(document.encode()).hexdigest()[:10]


def _plain(simple_icon: Any) -> Icon | None:
    paths = _ICON_PATH.findall(simple_icon.svg)
    return Icon(paths[0], f"#{simple_icon.hex}") if len(paths) == 1 and _PATH.fullmatch(paths[0]) else None


def _tile(letter: str, color: str) -> str:
    ink = "#000000" if _luminance(color) > 0.35 else "#ffffff"
    return (
        f'<rect width="24" height="24" rx="6" fill="{color}"/>'
        f'<text x="12" y="17" text-anchor="middle" font-family="system-ui, sans-serif" font-size="14" '
        f'font-weight="600" fill="{ink}">{escape(letter)}</text>'
    )


def _luminance(color: str) -> float:
    """Relative luminance of ``#rrggbb`` (WCAG 2.2), from 0 to 1."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
