"""What all pages of Build share: who may open them."""

from flask import Blueprint, abort

from webapp.dashboard.dashboard import viewer
from webapp.dashboard.shell import BUILD


def blueprint(noun: str, part: str = "", below: str = "") -> Blueprint:
    """The blueprint ``build_<noun>`` below ``/build/<noun>``, where roles that may not see it meet nothing (404).

    A ``part`` of the page has another, ``build_<noun>_<part>``, whose addresses begin with ``below``.
    """
    name = f"build_{noun}_{part}" if part else f"build_{noun}"
    build = Blueprint(name, __name__, url_prefix=f"/build/{noun}{below}")

    @build.before_request
    def check() -> None:
        if viewer().role not in BUILD[noun].roles:
            abort(404)

    return build
