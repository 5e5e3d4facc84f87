"""What ``patchbay piece`` prints of integrations."""

from collections.abc import Iterable
from typing import Any

import click

from webapp.cli.options import show
from webapp.errors import Conflict, Invalid
from webapp.kit.clock import iso
from webapp.service.domain.instance.pieces.listing import PieceView


def facts_of(view: PieceView) -> dict[str, Any]:
    """What the command prints of one integration as JSON."""
    version, contents = view.shown_version, view.added if view.current else view.offered
    return {
        "name": view.piece.title,
        "package": view.piece.package,
        "version": view.piece.version or view.piece.wanted,
        "newest": view.piece.newest,
        "app": contents.app,
        "actions": len(contents.actions),
        "triggers": len(contents.triggers),
        "left_out": [{"name": each.name, "kind": each.kind, "reason": each.reason} for each in contents.left_out],
        "hosts": list(view.piece.hosts),
        "refused_hosts": [each.host for each in view.refused_hosts],
        "licence": version.licence if version else "",
        "size": version.size if version else 0,
        "accounts": view.uses.accounts,
        "deployed": view.uses.triggers,
        "hidden": view.piece.hidden,
        "state": view.piece.state,
        "error": view.piece.error,
        "source": view.piece.origin or view.piece.source,
        "added_at": iso(view.piece.added_at),
    }


def tell(done: Iterable[PieceView], what: str, *, as_json: bool) -> None:
    """Say of each ``what`` came of it, also of those that were done before one that could not be."""
    views: list[PieceView] = []
    try:
        views.extend(done)
    except (Conflict, Invalid):
        if views:
            _tell(views, what, as_json=as_json)
        raise
    _tell(views, what, as_json=as_json)


def _tell(views: list[PieceView], what: str, *, as_json: bool) -> None:
    facts = []
    for view in views:
        changes = view.changes
        changed = [f"{part.name}: {sentence}" for part, sentence in changes.changed] if changes else []
        gone = [part.name for part in changes.gone] if changes else []
        facts.append({**facts_of(view), "gone": gone, "changed": changed})
    if as_json:
        show({"pieces": facts}, True)
        return
    for each in facts:
        licence = each["licence"] or "not named by the package"
        shown = {name: each[name] for name in ("package", "version", "app", "actions", "triggers", "hosts")}
        show({**shown, "licence": licence}, False, f"The integration {each['name']} {what}.")
        for left in each["left_out"]:
            click.echo(f"{left['name']} is left out: {left['reason']}", err=True)
        for line in (*(f"{name} is gone." for name in each["gone"]), *each["changed"]):
            click.echo(line, err=True)
