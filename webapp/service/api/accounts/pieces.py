"""Integrations that come from npm packages, for whoever runs the workspace: they stand in every project's catalog.

Only a client of the whole workspace may ask, with the scope ``*``: what is added is somebody else's code.
"""

from typing import Any

from flask import Response

from webapp.kit.clock import iso, iso_or_none
from webapp.service.api.accounts import piece_models as models
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.base import scopes
from webapp.service.domain.instance.pieces import adding, keeping, listing, looking
from webapp.service.domain.instance.pieces.contents import Contents
from webapp.service.domain.instance.pieces.listing import PieceView, SearchResult

ALL, ONE = "/v1/pieces", "/v1/pieces/<piece:piece_id>"
operations = Operations(
    Group("Integrations", "Apps that are added from npm packages."),
    PathParameter("piece_id", "The integration's id.", "$PIECE_ID"),
    read=(scopes.ALL,),
    write=(scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)


@operations.get(ALL, answer=models.Pieces)
def list_pieces(call: Call) -> Response:
    """Every integration, by name."""
    call.service.catalog.refresh()  # as their rows may tell of what has just been written
    pieces = [_shown(view) for view in listing.listed(call.service)]
    return answer({"data": pieces, "node": listing.node_version() or None})


@operations.get(
    "/v1/piece_packages",
    answer=models.PiecePackages,
    query=models.PieceSearch,
    errors=(502,),
    example=Example(query={"q": "shop"}),
)
def list_piece_packages(call: Call) -> Response:
    """Packages in the registry of npm that may be added."""
    results = listing.search(call.service, call.query(models.PieceSearch).q)
    return answer({"data": [_package(each) for each in results.results], "by_name": results.exact})


@operations.post("/v1/pieces/look", answer=models.Pieces, errors=(502,))
def look_for_newer_pieces(call: Call) -> Response:
    """Ask the registry for newer versions now, of all that came from it; else that is done once a day."""
    looking.look_now(call.service)
    return list_pieces(call)


@operations.post(
    ALL,
    answer=models.LicensedPiece,
    body=models.NewPiece,
    errors=(409,),
    example=Example(body={"name": "@acme/piece-shop", "version": "1.0.0"}),
)
def create_piece(call: Call) -> Response:
    """Bring a package here and look at it, or another version of one that was added; nothing is in the catalog yet."""
    order = call.body(models.NewPiece)
    return _one(call, adding.begin(call.service, order.name, order.version).id)


@operations.get(ONE, answer=models.LicensedPiece)
def get_piece(call: Call) -> Response:
    """An integration, and how far it is."""
    return _one(call, call.path["piece_id"])


@operations.post(
    f"{ONE}/confirm",
    answer=models.LicensedPiece,
    body=models.PieceConfirmation,
    errors=(409,),
    example=Example(path={"piece_id": "$READY_PIECE_ID"}, body={"hosts": ["api.shop.example"], "version": "1.0.0"}),
)
def confirm_piece(call: Call) -> Response:
    """Add what was looked at, or use the version that waits from now on; 409 unless it waits for that."""
    order, piece_id = call.body(models.PieceConfirmation), call.path["piece_id"]
    added = adding.confirm(call.service, piece_id, order.hosts, shown=not order.hidden, version=order.version or None)
    return _one(call, added.id)


@operations.post(f"{ONE}/stop", errors=(409,), example=Example(path={"piece_id": "$PIECE_TO_STOP_ID"}))
def stop_piece(call: Call) -> Response:
    """Give up what is brought or waits, or put away why it failed; what was added before stays."""
    adding.stop(call.service, call.path["piece_id"])
    return no_content()


@operations.patch(
    ONE, answer=models.LicensedPiece, body=models.PieceChange, errors=(409,), example=Example(body={"hidden": True})
)
def update_piece(call: Call) -> Response:
    """Change what it may reach, and whether lists show it."""
    order, piece_id = call.body(models.PieceChange), call.path["piece_id"]
    if order.hosts is not None:
        keeping.set_hosts(call.service, piece_id, order.hosts)
    if order.hidden is not None:
        (keeping.hide if order.hidden else keeping.show)(call.service, piece_id)
    return _one(call, piece_id)


@operations.post(
    f"{ONE}/allow",
    answer=models.LicensedPiece,
    body=models.PieceHost,
    errors=(409,),
    example=Example(body={"host": "cdn.shop.example"}),
)
def allow_piece(call: Call) -> Response:
    """Let it reach one host more."""
    return _one(call, keeping.allow(call.service, call.path["piece_id"], call.body(models.PieceHost).host).id)


@operations.delete(
    ONE, query=models.PieceRemoval, errors=(409,), example=Example(path={"piece_id": "$PIECE_TO_DELETE_ID"})
)
def delete_piece(call: Call) -> Response:
    """Remove an integration with its actions and triggers; 409 while it is used."""
    keeping.remove(call.service, call.path["piece_id"], with_uses=call.query(models.PieceRemoval).with_uses)
    return no_content()


def _one(call: Call, piece_id: str) -> Response:
    call.service.catalog.refresh()  # as the row may tell of what has just been written
    view = listing.find(call.service, piece_id)
    version = view.shown_version
    return answer({**_shown(view), "licence_text": version.licence_text if version else ""})


def _shown(view: PieceView) -> dict[str, Any]:
    piece, version = view.piece, view.shown_version
    contents = view.added if view.current else view.offered
    return {
        "id": piece.id,
        "package": piece.package,
        "app": contents.app,
        "name": piece.title,
        "description": piece.summary,
        "state": piece.state,
        "step": piece.step,
        "error": piece.error,
        "version": piece.version,
        "wanted": piece.wanted,
        "newest": piece.newest,
        "newer": view.has_newer,
        "published_at": iso_or_none(version.published_at) if version else None,
        "size": version.size if version else 0,
        "licence": version.licence if version else "",
        "author": version.author if version else "",
        "source": version.source if version else piece.source,
        "origin": version.origin if version else piece.origin,
        "hidden": piece.hidden,
        **_parts(contents),
        "hosts": list(piece.hosts),
        "proposed_hosts": list(contents.hosts),
        "refused_hosts": [{"host": each.host, "at": iso(each.seen_at)} for each in view.refused_hosts],
        "changes": _changes(view),
        "accounts": view.uses.accounts,
        "deployed": view.uses.triggers,
        "pinned_versions": sorted(set(view.uses.by_version) - {piece.version}),
    }


def _parts(contents: Contents) -> dict[str, Any]:
    return {
        "actions": [{"name": part.name, "key": part.key} for part in contents.actions],
        "triggers": [{"name": part.name, "key": part.key} for part in contents.triggers],
        "left_out": [{"name": part.name, "kind": part.kind, "reason": part.reason} for part in contents.left_out],
        "auth": contents.auth,
    }


def _changes(view: PieceView) -> dict[str, Any] | None:
    if view.changes is None:
        return None
    return {
        "added": [part.name for part in view.changes.added],
        "gone": [part.name for part in view.changes.gone],
        "changed": [{"name": part.name, "sentence": sentence} for part, sentence in view.changes.changed],
        "hosts": [host for host in view.offered.hosts if host not in view.piece.hosts],
    }


def _package(result: SearchResult) -> dict[str, Any]:
    release = result.release
    return {
        "package": release.package,
        "name": result.title,
        "description": release.description,
        "version": release.version,
        "published_at": iso_or_none(release.published_at),
        "size": release.size,
        "licence": release.licence,
        "author": release.author,
        "here": result.here,
        "app": result.slug,
        "piece_id": result.piece_id,
    }
