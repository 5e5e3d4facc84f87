"""Integrations from npm packages, for administrators of the workspace; all projects' catalogs have them.

Only a client of the whole workspace with the scope ``*`` may call these operations, since they add other people's code.
"""

from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso, iso_or_none
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Answer, Body, DateTime, Flag, Query
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.base import token_scopes
from webapp.service.domain.pieces import listing, owner_decisions, updates
from webapp.service.domain.pieces.listing import PieceView, SearchResult
from webapp.service.domain.pieces.pieces import Contents

ALL, ONE = "/v1/pieces", "/v1/pieces/<piece:piece_id>"
operations = Operations(
    Group("Integrations", "Apps that are added from npm packages."),
    PathParameter("piece_id", "The integration's id.", "$PIECE_ID"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)
HOSTS = "Hosts such as `api.example.com`; `*.example.com` matches all hosts below it."


class PieceSearch(Query):
    """The words to search for."""

    q: str = Field(max_length=100, description="The name of an app, or of a package.")


class NewPiece(Body):
    """A package."""

    name: str = Field(
        max_length=214, description="`slack`, or the package's whole name, such as `@activepieces/piece-slack`."
    )
    version: str = Field("", max_length=100, description="The newest one, unless it is said.")


class PieceConfirmation(Body):
    """The owner's decision about an examined package."""

    hosts: list[str] = Field(max_length=1000, description=f"What it may reach, and nothing else. {HOSTS}")
    hidden: bool = Field(False, description="Whether lists leave it out.")
    version: str | None = Field(
        None, max_length=100, description="The one that was looked at; 409 where another one waits by now."
    )


class PieceChange(Body):
    """The changes; omitted fields are unchanged."""

    hosts: list[str] | None = Field(None, max_length=1000, description=HOSTS)
    hidden: bool | None = Field(None, description="Whether lists leave it out.")


class PieceHost(Body):
    """A host."""

    host: str = Field(max_length=260, description="One that the integration was refused.")


class PieceRemoval(Query):
    """Options of the removal."""

    with_uses: Flag = Field(
        False, description="Although it is used: accounts and triggers stay, and do nothing until it is added again."
    )


class PiecePart(Answer):
    """An action or a trigger."""

    name: str = Field(examples=["Create card"])
    key: str = Field(examples=["trello-create_card"])


class LeftOutPart(Answer):
    """A part that cannot work here."""

    name: str = Field(examples=["Wait for approval"])
    kind: str = Field(examples=["action"])
    reason: str = Field(examples=["It needs waitpoints, which Patchbay does not have."])


class RefusedHost(Answer):
    """A host that it asked for and may not reach."""

    host: str = Field(examples=["cdn.example.com"])
    at: DateTime


class ChangedPart(Answer):
    """A part that another version changes."""

    name: str = Field(examples=["Create card"])
    sentence: str = Field(examples=["No longer asks for Label."])


class PieceChanges(Answer):
    """The changes in the waiting version. `hosts` are those that it wants to reach in addition."""

    added: list[str] = Field(examples=[["Find card"]])
    gone: list[str] = Field(examples=[[]])
    changed: list[ChangedPart]
    hosts: list[str] = Field(examples=[[]])


class Piece(Answer):
    """An integration. `version` is the one in use, `wanted` one that is being installed or waits for confirmation;
    empty for none.

    Its components, size and licence are those of the version in use, or else of the other.
    """

    id: str = Field(examples=["pc_8Kd3Ws"])
    package: str = Field(examples=["@activepieces/piece-trello"])
    app: str = Field(examples=["trello"])
    name: str = Field(examples=["Trello"])
    description: str = Field(examples=["Boards, lists and cards"])
    state: Literal["adding", "ready", "writing", "added", "failed"] = Field(
        description="`ready`: it was looked at, and waits to be confirmed. `writing`: it is added just now."
    )
    step: int = Field(examples=[0], description="1 found, 2 installed, 3 tested, 4 added; 0 while nothing is done.")
    error: str = Field(examples=[""], description="Why it failed, or why it is not whole on a machine.")
    version: str = Field(examples=["0.4.2"])
    wanted: str = Field(examples=[""])
    newest: str = Field(examples=["0.5.0"], description="The newest in the registry, which is asked once a day.")
    newer: bool = Field(description="Whether that is later than the one in use.")
    published_at: DateTime | None = None
    size: int = Field(examples=[620000], description="In bytes.")
    licence: str = Field(examples=["MIT"])
    author: str = Field(examples=["Activepieces"])
    source: Literal["registry", "tarball", "offline", "folder"] = Field(description="Where that version came from.")
    origin: str = Field(examples=[""], description="The path of that file or folder on the server; empty for npm.")
    hidden: bool = Field(description="Whether lists leave it out.")
    actions: list[PiecePart]
    triggers: list[PiecePart]
    left_out: list[LeftOutPart]
    auth: str = Field(examples=["People connect with a key"], description="How people connect.")
    hosts: list[str] = Field(examples=[["api.trello.com"]], description="What it may reach.")
    proposed_hosts: list[str] = Field(examples=[["api.trello.com"]], description="What it wants to reach.")
    refused_hosts: list[RefusedHost]
    changes: PieceChanges | None = None
    accounts: int = Field(examples=[4])
    deployed: int = Field(examples=[2], description="How many of its triggers are deployed.")
    pinned_versions: list[str] = Field(examples=[[]], description="Others that deployed triggers stay on.")


class LicensedPiece(Piece):
    """The same with the text of its licence."""

    licence_text: str = Field(examples=["MIT License…"])


class Pieces(Answer):
    """All of them, and the version of Node that runs them; null where the machine has none."""

    data: list[Piece]
    node: str | None = Field(examples=["22.11.0"])


class PiecePackage(Answer):
    """A package in the registry. `here`: whether it was `added`, as `piece_id`, or Patchbay has such an app itself."""

    package: str = Field(examples=["@activepieces/piece-trello"])
    name: str = Field(examples=["Trello"])
    description: str = Field(examples=["Boards, lists and cards"])
    version: str = Field(examples=["0.4.2"])
    published_at: DateTime | None
    size: int | None = Field(examples=[620000], description="In bytes.")
    licence: str = Field(examples=["MIT"])
    author: str = Field(examples=["Activepieces"])
    here: Literal["", "added", "builtin"]
    app: str = Field(examples=[""])
    piece_id: str = Field(examples=[""])


class PiecePackages(Answer):
    """The results of a search. `by_name`: the registry has no search, so only exact names were tried."""

    data: list[PiecePackage]
    by_name: bool


@operations.get(ALL, answer=Pieces)
def list_pieces(call: Call) -> Response:
    """Every integration, by name."""
    call.service.catalog.refresh()  # as their rows may describe what was just written
    pieces = [_shown(view) for view in listing.listed(call.service)]
    return answer({"data": pieces, "node": listing.node_version() or None})


@operations.get(
    "/v1/piece_packages",
    answer=PiecePackages,
    query=PieceSearch,
    errors=(502,),
    example=Example(query={"q": "shop"}),
)
def list_piece_packages(call: Call) -> Response:
    """Packages in the registry of npm that may be added."""
    results = listing.search(call.service, call.query(PieceSearch).q)
    return answer({"data": [_package(each) for each in results.results], "by_name": results.exact})


@operations.post("/v1/pieces/look", answer=Pieces, errors=(502,))
def look_for_newer_pieces(call: Call) -> Response:
    """Check the registry for newer versions now; otherwise that is done once a day."""
    updates.check_registry(call.service)
    return list_pieces(call)


@operations.post(
    ALL,
    answer=LicensedPiece,
    body=NewPiece,
    errors=(409,),
    example=Example(body={"name": "@acme/piece-shop", "version": "1.0.0"}),
)
def create_piece(call: Call) -> Response:
    """Download and examine a package, or another version of an added one; the catalog does not change yet."""
    order = call.body(NewPiece)
    return _one(call, owner_decisions.begin(call.service, order.name, order.version).id)


@operations.get(ONE, answer=LicensedPiece)
def get_piece(call: Call) -> Response:
    """An integration, and how far it is."""
    return _one(call, call.path["piece_id"])


@operations.post(
    f"{ONE}/confirm",
    answer=LicensedPiece,
    body=PieceConfirmation,
    errors=(409,),
    example=Example(path={"piece_id": "$READY_PIECE_ID"}, body={"hosts": ["api.shop.example"], "version": "1.0.0"}),
)
def confirm_piece(call: Call) -> Response:
    """Add an examined package, or use the waiting version from now on; 409 unless it waits for that."""
    order, piece_id = call.body(PieceConfirmation), call.path["piece_id"]
    added = owner_decisions.confirm(
        call.service, piece_id, order.hosts, shown=not order.hidden, version=order.version or None
    )
    return _one(call, added.id)


@operations.post(f"{ONE}/stop", errors=(409,), example=Example(path={"piece_id": "$PIECE_TO_STOP_ID"}))
def stop_piece(call: Call) -> Response:
    """Cancel an installation or a waiting version, or dismiss a failure; what was added before stays."""
    owner_decisions.stop(call.service, call.path["piece_id"])
    return no_content()


@operations.patch(ONE, answer=LicensedPiece, body=PieceChange, errors=(409,), example=Example(body={"hidden": True}))
def update_piece(call: Call) -> Response:
    """Change the hosts it may reach, and whether lists show it."""
    order, piece_id = call.body(PieceChange), call.path["piece_id"]
    if order.hosts is not None:
        owner_decisions.set_hosts(call.service, piece_id, order.hosts)
    if order.hidden is not None:
        (owner_decisions.hide if order.hidden else owner_decisions.show)(call.service, piece_id)
    return _one(call, piece_id)


@operations.post(
    f"{ONE}/allow",
    answer=LicensedPiece,
    body=PieceHost,
    errors=(409,),
    example=Example(body={"host": "cdn.shop.example"}),
)
def allow_piece(call: Call) -> Response:
    """Let it reach one host more."""
    return _one(call, owner_decisions.allow(call.service, call.path["piece_id"], call.body(PieceHost).host).id)


@operations.delete(ONE, query=PieceRemoval, errors=(409,), example=Example(path={"piece_id": "$PIECE_TO_DELETE_ID"}))
def delete_piece(call: Call) -> Response:
    """Remove an integration with its actions and triggers; 409 while it is used."""
    owner_decisions.remove(call.service, call.path["piece_id"], with_uses=call.query(PieceRemoval).with_uses)
    return no_content()


def _one(call: Call, piece_id: str) -> Response:
    call.service.catalog.refresh()  # as the row may describe what was just written
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
