"""The projects that developers and owners may work in, cached for a short while.

The list of apps reads them again once they are older than a minute. Other pages use the cache, so that most of them
need no further request; a browser in a project of its choice always knows its current project.
"""

from urllib.parse import urlsplit

from webapp.dashboard.client.build.projects import Project, Projects
from webapp.dashboard.dashboard import KNOWN_PROJECTS, dashboard, if_up, viewer
from webapp.dashboard.shared.changes import PROJECTS
from webapp.errors import Unauthorized
from webapp.kit.clock import MINUTE

_FRESH = "read a moment ago"


def recent() -> tuple[Project, ...]:
    """The projects, read within the last minute; none for members, or if they cannot be read."""
    if not viewer().may_build:
        return ()
    return dashboard().projects.get(_FRESH) or if_up(_read_fresh) or ()


def _read_fresh() -> tuple[Project, ...]:
    """The projects; none if the service does not show them to this client, which is no error."""
    try:
        return read_anew()
    except Unauthorized:
        return dashboard().projects.put(_FRESH, (), MINUTE)


def changed() -> None:
    """Drop the cache in all web processes, after a change of projects."""
    dashboard().changes.add(PROJECTS)
    read_anew()


def read_anew() -> tuple[Project, ...]:
    """The projects as they are now."""
    kept = dashboard().projects
    projects = Projects(dashboard().client).list().items
    kept.put(KNOWN_PROJECTS, projects)
    return kept.put(_FRESH, projects, MINUTE)


def unnamed() -> bool:
    """Whether to ask an owner for a support address: the viewer's project has only an assumed one."""
    projects = recent()
    assumed = {f"support@{host}" for host in ("localhost", urlsplit(dashboard().settings.public_url).hostname)}
    waiting = {project.id for project in projects if project.support_email in assumed}
    return viewer().role == "owner" and bool(waiting) and viewer().client.project_id in waiting
