"""Build → Integrations, where apps from any source are added.

A search, as one types, finds apps that are here, documents of the public directory, and packages of npm. The packages
are asked for afterwards: no page with the others waits for npm's registry. A document is imported by :mod:`.imports`,
as are those of an address or a file.

A package is examined step by step, and added once an owner has confirmed its hosts; so is a newer version. The page of
one integration shows what it adds and may reach and its origin, and removes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from flask import Response, flash, make_response, render_template, request, url_for
from pydantic import StringConstraints
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.build.directory import DirectoryClient, DirectoryDownload
from webapp.dashboard.client.build.imported_apps import ImportedApps
from webapp.dashboard.client.build.pieces import Packages, Piece, PieceClient, Pieces
from webapp.dashboard.dashboard import app_of, dashboard, if_up, service, viewer
from webapp.dashboard.pages import ListQuery, at_most, fragment, go, wants_fragment
from webapp.dashboard.pages import page as show_part
from webapp.dashboard.shared.changes import APPS
from webapp.dashboard.shell import logo_url
from webapp.errors import Conflict, Invalid, NotFound, Unavailable
from webapp.kit.translation import count_of, gettext, size
from webapp.kit.translation import lazy as _

blueprint = menu.blueprint("integrations")
MOST_HOSTS = 20_000  # characters
AWAY = _("npm’s registry does not answer this machine now. Check its way there, or try again in a moment.")
MOST_NAMES = 3
_MOST_OWN = 3
MOST_DOCUMENTS = 10


def _piece_client() -> PieceClient:
    """The integrations, of the installation as a whole."""
    return PieceClient(viewer().client)


def changed() -> None:
    """The catalog is another one now."""
    dashboard().changes.add(APPS)
    dashboard().forget_apps()


def back(anchor: str = "") -> AnyResponse:
    """To the page, at one of its parts."""
    return go(url_for("dashboard.build_integrations.page", _anchor=anchor or None))


def to_piece(piece_id: str, anchor: str = "") -> AnyResponse:
    """To the page of one integration."""
    return go(url_for("dashboard.build_integrations.show", piece_id=piece_id, _anchor=anchor or None))


def _version_of_form() -> str:
    """The version that a form's page showed."""
    return request.form.get("version", "")[:100]


def hosts_of_form() -> str:
    """The hosts of a form, as they were written: one on each line."""
    return request.form.get("hosts", "")[:MOST_HOSTS]


@dataclass(frozen=True, slots=True)
class Totals:
    """The numbers of what was added."""

    integrations: int
    parts: str


def parts(pieces: Pieces) -> dict[str, Any]:
    """The context of the page's parts: what is being installed, what waits for an owner, and what was added."""
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
    """The number of its actions and triggers."""
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


def news(piece: Piece) -> str:
    """The text about a newer version."""
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
    """The number of parts that are left out."""
    count, kinds = len(piece.left_out), {part.kind for part in piece.left_out}
    if kinds == {"action"}:
        return count_of(count, "{count} action left out", "{count} actions left out")
    if kinds == {"trigger"}:
        return count_of(count, "{count} trigger left out", "{count} triggers left out")
    return count_of(count, "{count} part left out", "{count} parts left out")


def logo_of(piece: Piece) -> str:
    """The logo of its app; "" if it has none, or is not listed."""
    app = app_of(piece.slug)
    return logo_url(app.logo) if app else ""


def progress_mark(piece: Piece) -> str:
    """A value that changes when its progress does."""
    return f"{piece.state}.{piece.step}"


def download_mark(download: DirectoryDownload) -> str:
    """A value that changes when the progress of the public directory does."""
    return f"{download.state}.{download.step}.{download.done}"


def download_count(download: DirectoryDownload) -> str:
    """How much of its step was done; "" for a step that counts nothing."""
    if download.step == "downloading":
        sizes = {"done": size(download.done), "expected": size(download.expected)}
        return gettext("{done} of about {expected}").format(**sizes)
    if download.step == "indexing":
        counts = {"done": f"{download.done:,}", "expected": f"{download.expected:,}"}
        return gettext("{done} of about {expected} documents").format(**counts)
    return ""


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
    "download_mark": download_mark,
    "download_count": download_count,
}


class IntegrationsQuery(ListQuery):
    """The query of the search."""

    q: Annotated[str, StringConstraints(strip_whitespace=True), at_most(100)] = ""


@blueprint.get("")
def page() -> Response:
    """The page, with what a search found; for htmx only that. Neither waits for packages, which are asked for next."""
    query = IntegrationsQuery.of_request()
    if not wants_fragment():
        return _show_page(query)
    part = "dashboard/build/integrations/_results.html"
    return show_part(part, part, url=query.url(), **_found(query), packages=None, problem="")


@blueprint.get("/packages")
def list_packages() -> AnyResponse:
    """The packages for a search, for a page that shows the rest already; without JavaScript, the page with them."""
    query = IntegrationsQuery.of_request()
    if not wants_fragment():
        return _show_page(query, with_packages=True)
    pieces = _piece_client().list()
    packages, problem = _packages(query.q) if pieces and query.q else (None, "")
    template = "dashboard/build/integrations/_found.html"
    texts = {"query": query, "others": "others" in request.args, "problem": problem}
    return make_response(fragment(template, packages=packages, **texts, **(parts(pieces) if pieces else {})))


def _show_page(
    query: IntegrationsQuery,
    *,
    with_packages: bool = False,
    entered: Mapping[str, str] | None = None,
    error: str = "",
) -> Response:
    """The page. ``entered`` are the refused hosts of integrations, by id, with ``error``."""
    pieces = _piece_client().list()
    packages, problem = _packages(query.q) if with_packages and pieces and query.q else (None, "")
    context = parts(pieces) if pieces else {}
    template = "dashboard/build/integrations/page.html"
    texts: dict[str, Any] = {"problem": problem, "entered": entered or {}, "error": error, **_found(query)}
    imports = ImportedApps(viewer().client).list() if pieces else None
    return make_response(
        render_template(template, pieces=pieces, packages=packages, imports=imports, **texts, **context),
        422 if error else 200,
    )


def _found(query: IntegrationsQuery) -> dict[str, Any]:
    """What a search finds on this installation: apps that are here, and documents of the public directory."""
    apps = if_up(partial(service().apps, AppFilter(query.q), limit=_MOST_OWN)) if query.q else None
    client = DirectoryClient(viewer().client)
    directory = if_up(partial(client.search, query.q, limit=MOST_DOCUMENTS))
    own = apps.items if apps else ()
    others = bool(own or (directory and directory.items))
    return {"query": query, "own": own, "directory": directory, "others": others}


def _packages(q: str) -> tuple[Packages | None, str]:
    """The packages of that name, or the error of the search."""
    try:
        return _piece_client().search(q), ""
    except Invalid as error:
        return None, error.message
    except Unavailable:
        return None, str(AWAY)


@blueprint.get("/<piece_id>")
def show(piece_id: str) -> AnyResponse:
    """The page."""
    return _shown(_piece_client().get(piece_id))


@blueprint.post("/<piece_id>/hosts")
def set_hosts(piece_id: str) -> AnyResponse:
    """Let it reach only these hosts."""
    hosts = hosts_of_form()
    try:
        _piece_client().set_hosts(piece_id, hosts.split())
    except Invalid as error:
        return _shown(_piece_client().get(piece_id), hosts, error.message)
    flash(gettext("Saved."), "ok")
    return to_piece(piece_id, "reach")


@blueprint.post("/<piece_id>/allowance")
def allow(piece_id: str) -> AnyResponse:
    """Let it reach a host that it was refused."""
    host = request.form.get("host", "")
    try:
        piece = _piece_client().allow(piece_id, host)
    except Invalid as error:
        flash(error.message, "bad")
    else:
        flash(gettext("{app} may reach {host} now.").format(app=piece.name, host=host), "ok")
    return to_piece(piece_id, "reach")


@blueprint.post("/<piece_id>/visibility")
def hide(piece_id: str) -> AnyResponse:
    """Show it to people, or hide it."""
    piece = _piece_client().hide(piece_id, hidden="shown" not in request.form)
    changed()
    sentence = gettext("{app} is hidden from people.") if piece.hidden else gettext("People see {app} now.")
    flash(sentence.format(app=piece.name), "ok")
    return back("added")


@blueprint.get("/<piece_id>/removal")
def removal_page(piece_id: str) -> str:
    """Ask before it is removed, and say what becomes of accounts and triggers."""
    piece = _piece_client().get(piece_id)
    return render_template(
        "dashboard/build/question.html",
        crumb=gettext("Integrations"),
        heading=gettext("Remove {app}?").format(app=piece.name),
        text=gettext("Its actions and triggers are removed with it. Accounts stay, and it can be added again."),
        stops=_stops(piece),
        button=gettext("Remove"),
        confirm_url=url_for("dashboard.build_integrations.remove", piece_id=piece_id),
        back_url=url_for("dashboard.build_integrations.page"),
    )


@blueprint.post("/<piece_id>/removal")
def remove(piece_id: str) -> AnyResponse:
    """Remove it, unless that is refused."""
    piece = _piece_client().get(piece_id)
    try:
        _piece_client().remove(piece_id)
    except Conflict as error:
        flash(error.message, "bad")
        return back("added")
    changed()
    flash(gettext("{app} is removed.").format(app=piece.name), "ok")
    return back("added")


def _stops(piece: Piece) -> list[str]:
    accounts = (
        "{count} connected account stops working until it is added again.",
        "{count} connected accounts stop working until it is added again.",
    )
    triggers = (
        "{count} running trigger stops until it is added again.",
        "{count} running triggers stop until it is added again.",
    )
    counted = ((piece.accounts, accounts), (piece.deployed, triggers))
    return [count_of(count, *sentence) for count, sentence in counted if count]


def _shown(piece: Piece, hosts: str | None = None, error: str = "") -> Response:
    template = "dashboard/build/integrations/show.html"
    text = "\n".join(piece.hosts) if hosts is None else hosts
    return make_response(
        render_template(template, piece=piece, hosts=text, error=error, **WORDS), 422 if error else 200
    )


@blueprint.post("")
def begin() -> AnyResponse:
    """Look at a package, or at a newer version."""
    form = request.form
    try:
        _piece_client().begin(form.get("name", "").strip(), form.get("version", ""))
    except (Conflict, Invalid) as error:
        flash(error.message, "bad")
    return go(url_for("dashboard.build_integrations.page", q=form.get("q") or None))


@blueprint.post("/newer")
def look_for_newer() -> AnyResponse:
    """Check the registry for newer versions of integrations."""
    try:
        _piece_client().look_for_newer()
    except Unavailable:
        flash(str(AWAY), "bad")
    else:
        flash(gettext("npm was asked for newer versions just now."), "ok")
    return back("added")


@blueprint.get("/<piece_id>/progress")
def progress(piece_id: str) -> AnyResponse:
    """Its progress, for a page that polls; at the end, the updated parts of the page."""
    if not wants_fragment():
        return back()
    try:
        piece = _piece_client().get(piece_id)
    except NotFound:
        return back()
    if piece.at_work and request.args.get("known") == progress_mark(piece):
        return make_response("", 204)
    if piece.at_work:
        return make_response(fragment("dashboard/build/integrations/_progress.html", piece=piece, **WORDS))
    return _done(piece)


@blueprint.post("/<piece_id>/stop")
def stop(piece_id: str) -> AnyResponse:
    """Dismiss an examined package; what was added before stays."""
    try:
        _piece_client().stop(piece_id)
    except Conflict as error:
        flash(error.message, "bad")
    return back()


@blueprint.post("/<piece_id>/addition")
def add(piece_id: str) -> AnyResponse:
    """Add it with these hosts."""
    hosts, hidden = hosts_of_form(), "shown" not in request.form
    try:
        _piece_client().confirm(piece_id, hosts.split(), version=_version_of_form(), hidden=hidden)
    except Invalid as error:
        return _show_page(IntegrationsQuery(), entered={piece_id: hosts}, error=error.message)
    except Conflict as error:
        flash(error.message, "bad")
    changed()
    return back()


@blueprint.get("/<piece_id>/update")
def update_page(piece_id: str) -> AnyResponse:
    """The changes of a newer version."""
    return _update(_piece_client().get(piece_id))


@blueprint.post("/<piece_id>/update")
def update(piece_id: str) -> AnyResponse:
    """Use the newer version from now on."""
    piece, hosts = _piece_client().get(piece_id), hosts_of_form()
    try:
        _piece_client().confirm(piece_id, hosts.split(), version=_version_of_form(), hidden=piece.hidden)
    except Invalid as error:
        return _update(piece, hosts, error.message)
    except Conflict as error:
        flash(error.message, "bad")
    changed()
    return back()


def _update(piece: Piece, hosts: str = "", error: str = "") -> AnyResponse:
    if piece.state != "ready" or not piece.works:
        return to_piece(piece.id)
    template = "dashboard/build/integrations/update.html"
    return make_response(
        render_template(template, piece=piece, entered=hosts, error=error, **WORDS), 422 if error else 200
    )


def _done(piece: Piece) -> AnyResponse:
    """The part that replaces its progress, with a message."""
    sentence = gettext("{app} is added.") if piece.works else gettext("{app} can be added now.")
    if piece.state == "failed":
        sentence = gettext("{app} could not be checked.")
    elif piece.works and piece.state == "ready":
        sentence = gettext("Version {version} of {app} was checked.")
    changed()
    pieces = _piece_client().list()
    context = {**(parts(pieces) if pieces else {}), "entered": {}, "error": "", "piece": piece}
    sentence_of_app = sentence.format(app=piece.name, version=piece.wanted)
    return make_response(fragment("dashboard/build/integrations/_done.html", sentence=sentence_of_app, **context))
