"""Which pictures the manual shows, what each is drawn from, and whether it is older than that.

A picture depends on the templates of its page, with all that they include in folders of their own: when one of them
changes, something on the picture has probably moved. It does not depend on layouts, shared pieces and style sheets,
since a change there touches every picture and shows on few: whoever changes those draws all again (``ALL=1``).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
FOLDER, TEMPLATES = ROOT / "static" / "pictures", ROOT / "templates"
MOST_BYTES = 40_000
RECORD = Path(__file__).parent / "drawn.json"
Theme = Literal["light", "dark"]
THEMES: dict[Theme, str] = {"light": "", "dark": "-dark"}
SOURCES = {
    "apps": ("dashboard/apps/index.html",),
    "app": ("dashboard/apps/show.html",),
    "link": ("sandbox/product/page.html", "link/oauth.html"),
    "accounts": ("dashboard/accounts/index.html",),
    "account": ("dashboard/account/show.html",),
    "action": ("dashboard/components/show.html",),
    "triggers": ("dashboard/triggers/index.html",),
    "trigger": ("dashboard/trigger/show.html",),
    "logs": ("dashboard/logs/index.html",),
    "agents": ("dashboard/agents/index.html",),
    "integrations": ("dashboard/build/integrations/page.html",),
    "embed": ("dashboard/build/embed/page.html",),
    "keys": ("dashboard/build/keys/page.html",),
    "usage": ("dashboard/build/usage/page.html",),
}
"""The names of the pictures, each with the template of its page; the Link's is in another's frame."""
_SHARED = ("shared/", "layouts/", "dashboard/layout.html", "dashboard/_")
_NAMED = re.compile(r"""\{%-?\s*(?:include|extends|import|from)\s+"([^"]+)\"""")


def files_of(name: str) -> list[Path]:
    """The pictures called ``name``, in both themes."""
    return [FOLDER / f"{name}{suffix}.webp" for suffix in THEMES.values()]


def templates_of(*templates: str) -> set[str]:
    """``templates`` and what they include, but for what all pages share."""
    found, waiting = set[str](), [*templates]
    while waiting:
        one = waiting.pop()
        if one in found or one.startswith(_SHARED):
            continue
        if (TEMPLATES / one).is_dir():  # the beginning of a name that the template completes: any of these
            waiting += [str(file.relative_to(TEMPLATES)) for file in (TEMPLATES / one).glob("*.html")]
        else:
            found.add(one)
            waiting += _NAMED.findall((TEMPLATES / one).read_text("utf-8"))
    return found


def state(name: str) -> str:
    """A hash of what the picture ``name`` is drawn from."""
    texts = ((TEMPLATES / one).read_bytes() for one in sorted(templates_of(*SOURCES[name])))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def recorded() -> Mapping[str, str]:
    """The state of each picture when it was drawn."""
    known: dict[str, str] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    return known


def stale() -> Iterator[str]:
    """The pictures that are missing, or older than their templates."""
    known = recorded()
    for name in SOURCES:
        if known.get(name) != state(name) or not all(file.is_file() for file in files_of(name)):
            yield name


def record(names: list[str]) -> None:
    """Remember that the pictures ``names`` were drawn just now."""
    known = {**recorded(), **{name: state(name) for name in names}}
    RECORD.write_text(json.dumps({name: known[name] for name in SOURCES if name in known}, indent=2) + "\n", "utf-8")
