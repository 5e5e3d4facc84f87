"""What all pages of Build share: who may open them."""

from flask import Blueprint, abort

from webapp.dashboard.dashboard import viewer
from webapp.dashboard.shell import BUILD


def blueprint(noun: str) -> Blueprint:
    """The blueprint ``build_<noun>`` below ``/build/<noun>``, where roles that may not see it meet nothing (404)."""
    build = Blueprint(f"build_{noun}", __name__, url_prefix=f"/build/{noun}")

    @build.before_request
    def check() -> None:
        if viewer().role not in BUILD[noun].roles:
            abort(404)

    return build
