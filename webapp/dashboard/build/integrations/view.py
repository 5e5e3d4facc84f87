"""Integrations in words, and where on the page each stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.dashboard.client.models.pieces import Piece, Pieces
from webapp.dashboard.dashboard import app_of
from webapp.dashboard.shell import logo_url
from webapp.kit.translation import count_of, gettext
from webapp.kit.translation import lazy as _

_MB, _KB = 1_000_000, 1_000
MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Totals:
    """What was added, counted."""

    integrations: int
    parts: str


def parts(pieces: Pieces) -> dict[str, Any]:
    """The context of the page's parts: what is worked on, what waits for an owner, and what was added."""
    added = [piece for piece in pieces.items if piece.works]
    waiting = [piece for piece in pieces.items if not piece.works and not piece.at_work]
    return {
        "working": [piece for piece in pieces.items if piece.at_work],
        "waiting": waiting,
        "ready_ids": {piece.id for piece in waiting if piece.state == "ready"},
        "added": added,
        "totals": Totals(
            len(added),
            _counted(sum(len(piece.actions) for piece in added), sum(len(piece.triggers) for piece in added)),
        ),
        "added_ids": {piece.id for piece in added},
        "node": pieces.node,
        **WORDS,
    }


def adds(piece: Piece) -> str:
    """How many actions and triggers it has."""
    return _counted(len(piece.actions), len(piece.triggers))


def _counted(actions: int, triggers: int) -> str:
    of_actions = count_of(actions, "{count} action", "{count} actions") if actions else ""
    of_triggers = count_of(triggers, "{count} trigger", "{count} triggers") if triggers else ""
    return ", ".join(filter(None, (of_actions, of_triggers))) or gettext("No actions")


def some(names: list[str]) -> str:
    """The first of ``names``, and that there are more."""
    listed = ", ".join(names[:MOST_NAMES])
    return f"{listed} …" if len(names) > MOST_NAMES else listed


def used_by(piece: Piece) -> str:
    """Who would feel its end."""
    accounts = count_of(piece.accounts, "{count} account", "{count} accounts") if piece.accounts else ""
    triggers = count_of(piece.deployed, "{count} trigger", "{count} triggers") if piece.deployed else ""
    return ", ".join(filter(None, (accounts, triggers))) or gettext("Nobody yet")


def size(count: int) -> str:
    """So many bytes."""
    if count >= _MB / 10:
        return gettext("{size} MB").format(size=f"{count / _MB:.1f}")
    return gettext("{size} kB").format(size=max(1, round(count / _KB)))


def news(piece: Piece) -> str:
    """What is to be said of a newer version."""
    version = piece.wanted or piece.newest
    if piece.state == "ready" and piece.changes is not None:
        if piece.changes.breaks:
            sentence = "{version} changes {count} part", "{version} changes {count} parts"
            return count_of(piece.changes.breaks, *sentence, version=version)
        return gettext("{version} is out; nothing breaks").format(version=version)
    if piece.source == "folder":
        return gettext("Follows its folder")
    if piece.has_newer:
        return gettext("{version} is out").format(version=version)
    return gettext("Newest") if piece.source == "registry" else ""  # of a file, nobody knows


def left_out(piece: Piece) -> str:
    """How many parts are left out."""
    count, kinds = len(piece.left_out), {part.kind for part in piece.left_out}
    if kinds == {"action"}:
        return count_of(count, "{count} action left out", "{count} actions left out")
    if kinds == {"trigger"}:
        return count_of(count, "{count} trigger left out", "{count} triggers left out")
    return count_of(count, "{count} part left out", "{count} parts left out")


def logo_of(piece: Piece) -> str:
    """The logo of its app; "" for one that has none, or that nobody sees."""
    app = app_of(piece.slug)
    return logo_url(app.logo) if app else ""


def progress_mark(piece: Piece) -> str:
    """What differs once there is something new to show of its progress."""
    return f"{piece.state}.{piece.step}"


SOURCES: Mapping[str, str] = {
    "registry": _("From npm"),
    "tarball": _("From a file"),
    "offline": _("From a folder"),
    "folder": _("From its author’s folder"),
}
WORDS: Mapping[str, Any] = {
    "SOURCES": SOURCES,
    "adds": adds,
    "some": some,
    "used_by": used_by,
    "size": size,
    "news": news,
    "left_out": left_out,
    "logo_of": logo_of,
    "progress_mark": progress_mark,
}
