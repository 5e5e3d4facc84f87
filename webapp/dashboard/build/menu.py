"""The pages of Build: the table of their places in the menu and of the roles that see them, and what all of them share.

A page whose row leaves a role out answers 404 to it, with all its parts. Their sentences are in English only, so a page
of Build is in English as a whole, with its menu: no page mixes two languages.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from flask import Blueprint, abort

from webapp.dashboard.client.build import usage
from webapp.dashboard.dashboard import dashboard, has_logs, offers, viewer
from webapp.dashboard.menu import always
from webapp.errors import Conflict, Invalid
from webapp.kit import translation
from webapp.kit.clock import SECOND
from webapp.kit.translation import lazy as _
from webapp.people.roles import DEVELOPERS, OWNERS


@dataclass(frozen=True, slots=True)
class BuildPage:
    """A page of Build in the menu, and the ``roles`` that see it. The ``label`` is in the language of the page that the
    menu stands on.

    One that is ``of_project`` shows what belongs to the project that the viewer works in. One that is not ``offered``,
    as the service lacks what it shows, is left out of the menu.
    """

    label: str
    icon: str
    roles: tuple[str, ...]
    of_project: bool = True
    offered: Callable[[], bool] = always


def _has_usage() -> bool:
    now = dashboard().clock() // SECOND
    return offers("usage", lambda: usage.by_app(viewer().client, now - 1, now))


PAGES: Mapping[str, BuildPage] = {
    "embed": BuildPage(_("Embed"), "embed", DEVELOPERS),
    "keys": BuildPage(_("API & keys"), "key", DEVELOPERS),
    "logs": BuildPage(_("Logs"), "logs", DEVELOPERS, offered=has_logs),
    "usage": BuildPage(_("Usage"), "chart", DEVELOPERS, offered=_has_usage),
    "project": BuildPage(_("Project"), "settings", DEVELOPERS),
    "apps": BuildPage(_("App setup"), "apps", OWNERS),
    "integrations": BuildPage(_("Integrations"), "pieces", OWNERS, of_project=False),
    "workflows": BuildPage(_("Workflows"), "workflow", DEVELOPERS),
    "people": BuildPage(_("People"), "people", OWNERS),
}
"""By noun, in the order of the menu: each page is the endpoint ``page`` of its blueprint."""


def seen_by(role: str) -> dict[str, BuildPage]:
    """The pages in the menu of ``role``, by noun."""
    return {noun: page for noun, page in PAGES.items() if role in page.roles and page.offered()}


def blueprint(noun: str) -> Blueprint:
    """Return the blueprint ``build_<noun>`` below ``/build/<noun>``, whose endpoint ``page`` is in the menu."""
    return _blueprint(noun, f"build_{noun}", "")


def part_of(noun: str, part: str, below: str) -> Blueprint:
    """Return the blueprint ``build_<noun>_<part>``, a part of the page whose addresses begin with ``below``."""
    return _blueprint(noun, f"build_{noun}_{part}", below)


def _blueprint(noun: str, name: str, below: str) -> Blueprint:
    build, roles = Blueprint(name, __name__, url_prefix=f"/build/{noun}{below}"), PAGES[noun].roles

    @build.before_request
    def check() -> None:
        if viewer().role not in roles:
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
