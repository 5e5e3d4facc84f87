"""What all pages of Build share: who may open them, and where a form says what is wrong with it."""

from collections.abc import Collection

from flask import Blueprint, abort

from webapp.dashboard.dashboard import viewer
from webapp.dashboard.shell import BUILD
from webapp.errors import Conflict, Invalid


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


def by_field(error: Invalid | Conflict, fields: Collection[str]) -> dict[str, str]:
    """What is wrong with each of ``fields``, or with a part of it ("scopes.0").

    What fits none of them, and a refusal without details, stands for the whole, "".
    """
    problems = dict[str, str]()
    for detail in error.details if isinstance(error, Invalid) else ():
        field = next((name for name in (detail.field, detail.field.partition(".")[0]) if name in fields), "")
        problems.setdefault(field, detail.message)
    return problems or {"": error.message}
