"""The page of one integration: what it adds and may reach, whose it is, and its removal."""

from flask import Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.integrations import frame, view
from webapp.dashboard.client.models.pieces import Piece
from webapp.errors import Conflict, Invalid
from webapp.kit.translation import count_of, gettext

blueprint = frame.blueprint


@blueprint.get("/<piece_id>")
def show(piece_id: str) -> AnyResponse:
    """The page."""
    return _shown(frame.pieces().get(piece_id))


@blueprint.post("/<piece_id>/hosts")
def set_hosts(piece_id: str) -> AnyResponse:
    """Let it reach these hosts alone."""
    hosts = frame.hosts()
    try:
        frame.pieces().set_hosts(piece_id, hosts.split())
    except Invalid as error:
        return _shown(frame.pieces().get(piece_id), hosts, error.message)
    flash(gettext("Saved."), "ok")
    return frame.to(piece_id, "reach")


@blueprint.post("/<piece_id>/allowance")
def allow(piece_id: str) -> AnyResponse:
    """Let it reach a host that it was refused."""
    host = request.form.get("host", "")
    try:
        piece = frame.pieces().allow(piece_id, host)
    except Invalid as error:
        flash(error.message, "bad")
    else:
        flash(gettext("{app} may reach {host} now.").format(app=piece.name, host=host), "ok")
    return frame.to(piece_id, "reach")


@blueprint.post("/<piece_id>/visibility")
def hide(piece_id: str) -> AnyResponse:
    """Show it to people, or hide it."""
    piece = frame.pieces().hide(piece_id, hidden="shown" not in request.form)
    frame.changed()
    sentence = gettext("{app} is hidden from people.") if piece.hidden else gettext("People see {app} now.")
    flash(sentence.format(app=piece.name), "ok")
    return frame.back("added")


@blueprint.get("/<piece_id>/removal")
def removal_page(piece_id: str) -> str:
    """Ask before it is removed, and say what becomes of accounts and triggers."""
    piece = frame.pieces().get(piece_id)
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
    piece = frame.pieces().get(piece_id)
    try:
        frame.pieces().remove(piece_id)
    except Conflict as error:
        flash(error.message, "bad")
        return frame.back("added")
    frame.changed()
    flash(gettext("{app} is removed.").format(app=piece.name), "ok")
    return frame.back("added")


def _stops(piece: Piece) -> list[str]:
    accounts = (
        "{count} connected account does nothing more until it is added again.",
        "{count} connected accounts do nothing more until it is added again.",
    )
    triggers = (
        "{count} running trigger tells nothing more until it is added again.",
        "{count} running triggers tell nothing more until it is added again.",
    )
    counted = ((piece.accounts, accounts), (piece.deployed, triggers))
    return [count_of(count, *sentence) for count, sentence in counted if count]


def _shown(piece: Piece, hosts: str | None = None, error: str = "") -> Response:
    template = "dashboard/build/integrations/show.html"
    text = "\n".join(piece.hosts) if hosts is None else hosts
    return make_response(
        render_template(template, piece=piece, hosts=text, error=error, **view.WORDS), 422 if error else 200
    )
