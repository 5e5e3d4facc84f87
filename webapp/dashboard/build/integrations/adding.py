"""A package is looked at, step by step, and added once an owner has said what it may reach; so is a newer version."""

from flask import flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.integrations import frame, view
from webapp.dashboard.build.integrations.finding import IntegrationsQuery, show
from webapp.dashboard.client.models.pieces import Piece
from webapp.dashboard.pages import fragment, go, wants_fragment
from webapp.errors import Conflict, Invalid, NotFound, Unavailable
from webapp.kit.translation import gettext

blueprint = frame.blueprint


@blueprint.post("")
def begin() -> AnyResponse:
    """Look at a package, or at a newer version."""
    form = request.form
    try:
        frame.pieces().begin(form.get("name", "").strip(), form.get("version", ""))
    except (Conflict, Invalid) as error:
        flash(error.message, "bad")
    return go(url_for("dashboard.build_integrations.page", q=form.get("q") or None))


@blueprint.post("/newer")
def look_for_newer() -> AnyResponse:
    """Ask the registry for newer versions of what was added."""
    try:
        frame.pieces().look_for_newer()
    except Unavailable:
        flash(str(frame.AWAY), "bad")
    else:
        flash(gettext("npm was asked for newer versions just now."), "ok")
    return frame.back("added")


@blueprint.get("/<piece_id>/progress")
def progress(piece_id: str) -> AnyResponse:
    """How far it is, for a page that looks again and again; once it is done, the page's other parts anew."""
    if not wants_fragment():
        return frame.back()
    try:
        piece = frame.pieces().get(piece_id)
    except NotFound:
        return frame.back()
    if piece.at_work and request.args.get("known") == view.progress_mark(piece):
        return make_response("", 204)
    if piece.at_work:
        return make_response(fragment("dashboard/build/integrations/_progress.html", piece=piece, **view.WORDS))
    return _done(piece)


@blueprint.post("/<piece_id>/stop")
def stop(piece_id: str) -> AnyResponse:
    """Do not add what was looked at; what works already goes on."""
    try:
        frame.pieces().stop(piece_id)
    except Conflict as error:
        flash(error.message, "bad")
    return frame.back()


@blueprint.post("/<piece_id>/addition")
def add(piece_id: str) -> AnyResponse:
    """Add it, to reach these hosts alone."""
    hosts, hidden = frame.hosts(), "shown" not in request.form
    try:
        frame.pieces().confirm(piece_id, hosts.split(), version=frame.version(), hidden=hidden)
    except Invalid as error:
        return show(IntegrationsQuery(), {piece_id: hosts}, error.message)
    except Conflict as error:
        flash(error.message, "bad")
    frame.changed()
    return frame.back()


@blueprint.get("/<piece_id>/update")
def update_page(piece_id: str) -> AnyResponse:
    """What a newer version changes."""
    return _update(frame.pieces().get(piece_id))


@blueprint.post("/<piece_id>/update")
def update(piece_id: str) -> AnyResponse:
    """Use the newer version from now on."""
    piece, hosts = frame.pieces().get(piece_id), frame.hosts()
    try:
        frame.pieces().confirm(piece_id, hosts.split(), version=frame.version(), hidden=piece.hidden)
    except Invalid as error:
        return _update(piece, hosts, error.message)
    except Conflict as error:
        flash(error.message, "bad")
    frame.changed()
    return frame.back()


def _update(piece: Piece, hosts: str = "", error: str = "") -> AnyResponse:
    if piece.state != "ready" or not piece.works:
        return frame.to(piece.id)
    template = "dashboard/build/integrations/update.html"
    return make_response(
        render_template(template, piece=piece, entered=hosts, error=error, **view.WORDS), 422 if error else 200
    )


def _done(piece: Piece) -> AnyResponse:
    """The part in the place of its progress: what there is now, and in words."""
    sentence = gettext("{app} is added.") if piece.works else gettext("{app} can be added now.")
    if piece.state == "failed":
        sentence = gettext("{app} could not be looked at.")
    elif piece.works and piece.state == "ready":
        sentence = gettext("Version {version} of {app} was looked at.")
    frame.changed()
    pieces = frame.pieces().list()
    context = {**(view.parts(pieces) if pieces else {}), "entered": {}, "error": "", "piece": piece}
    told = sentence.format(app=piece.name, version=piece.wanted)
    return make_response(fragment("dashboard/build/integrations/_done.html", sentence=told, **context))
