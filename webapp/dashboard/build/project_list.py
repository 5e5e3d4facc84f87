"""The projects that developers and owners may work in, cached for a short while.

The list of apps reads them again once they are older than a minute. Other pages use the cache, so that most of them
need no further request; a browser in a project of its choice always knows its current project.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from webapp.dashboard.client.build.projects import Project, Projects
from webapp.dashboard.dashboard import ALL_PROJECTS, dashboard, if_up, viewer
from webapp.dashboard.shared.changes import PROJECTS
from webapp.errors import Unauthorized
from webapp.kit.clock import MINUTE
from webapp.people import roles

_FRESH = "read a moment ago"


def recent() -> tuple[Project, ...]:
    """The projects, read within the last minute; none for members, or if they cannot be read."""
    if not viewer().may_build:
        return ()
    return dashboard().projects.get(_FRESH) or if_up(_read_fresh) or ()


def names() -> Mapping[str, str]:
    """The names of the projects, by id."""
    return {project.id: project.name or project.id for project in recent()}


def _read_fresh() -> tuple[Project, ...]:
    """The projects; none if the service does not show them to this client, which is no error."""
    try:
        return refresh()
    except Unauthorized:
        return dashboard().projects.put(_FRESH, (), MINUTE)


def changed() -> None:
    """Drop the cache in all web processes, after a change of projects."""
    dashboard().changes.add(PROJECTS)
    refresh()


def refresh() -> tuple[Project, ...]:
    """Read the projects, and cache them."""
    cache = dashboard().projects
    projects = Projects(dashboard().client).list().items
    cache.put(ALL_PROJECTS, projects)
    return cache.put(_FRESH, projects, MINUTE)


def product_name() -> str:
    """What the product is called in which this dashboard connects accounts, also for people who are not signed in."""
    projects = dashboard().projects.get(_FRESH) or if_up(_read_fresh) or ()
    return next((each.app_name for each in projects if each.id == dashboard().client.project_id), "") or "Patchbay"


def needs_support_address() -> bool:
    """Whether to ask the viewer, who may set one, for a support address, as their project has only an assumed one."""
    projects = recent()
    assumed = {f"support@{host}" for host in ("localhost", urlsplit(dashboard().settings.public_url).hostname)}
    waiting = {project.id for project in projects if project.support_email in assumed}
    return roles.may_change_projects(viewer().role) and bool(waiting) and viewer().client.project_id in waiting
