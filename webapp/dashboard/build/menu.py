"""What all pages of Build share: entries in the menu, the roles that see them, the language, and the errors of forms.

Their sentences are in English only, so a page of Build is in English as a whole, with its menu: no page mixes two.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from flask import Blueprint, abort

from webapp.dashboard.dashboard import viewer
from webapp.errors import Conflict, Invalid
from webapp.kit import translation


def always() -> bool:
    """True."""
    return True


@dataclass(frozen=True, slots=True)
class BuildPage:
    """A page of Build in the menu, at its ``place`` there, and the roles that see it; others get a 404. Its label is in
    :data:`webapp.dashboard.words.BUILD`.

    One that is ``of_project`` shows what belongs to the project that the viewer works in. One that is not ``offered``,
    as the service lacks what it shows, is left out of the menu.
    """

    icon: str
    place: int
    roles: tuple[str, ...]
    of_project: bool = True
    offered: Callable[[], bool] = always


PAGES: dict[str, BuildPage] = {}
"""By noun, as their modules add them: each page is the endpoint ``page`` of its blueprint."""


def blueprint(noun: str, menu: BuildPage) -> Blueprint:
    """Return the blueprint ``build_<noun>`` below ``/build/<noun>``, whose endpoint ``page`` is in the ``menu``."""
    PAGES[noun] = menu
    return _blueprint(noun, f"build_{noun}", "")


def part_of(noun: str, part: str, below: str) -> Blueprint:
    """Return the blueprint ``build_<noun>_<part>``, a part of the page whose addresses begin with ``below``."""
    return _blueprint(noun, f"build_{noun}_{part}", below)


def in_menu() -> list[tuple[str, BuildPage]]:
    """Return the pages with their nouns, in the order of the menu."""
    return sorted(PAGES.items(), key=lambda item: item[1].place)


def _blueprint(noun: str, name: str, below: str) -> Blueprint:
    build = Blueprint(name, __name__, url_prefix=f"/build/{noun}{below}")

    @build.before_request
    def check() -> None:
        if viewer().role not in PAGES[noun].roles:
            abort(404)
        translation.speak(translation.DEFAULT)

    return build


def by_field(error: Invalid | Conflict, fields: Collection[str]) -> dict[str, str]:
    """The problem of each of ``fields``, or of a part of it ("scopes.0").

    Other problems, and an error without details, are under "".
    """
    problems = dict[str, str]()
    for detail in error.details if isinstance(error, Invalid) else ():
        field = next((name for name in (detail.field, detail.field.partition(".")[0]) if name in fields), "")
        problems.setdefault(field, detail.message)
    return problems or {"": error.message}
