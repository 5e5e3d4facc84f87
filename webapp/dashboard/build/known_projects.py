"""The projects that developers and owners may work in, as they were known a short while ago.

The list of apps reads them anew once they are older than a minute. Other pages do with what is known, so that most of
them ask for nothing more; a browser that works in a project of its choice always learns where it is.
"""

from urllib.parse import urlsplit

from webapp.dashboard.client.build.projects import Project, Projects
from webapp.dashboard.dashboard import KNOWN_PROJECTS, dashboard, if_up, viewer
from webapp.dashboard.shared.changes import PROJECTS
from webapp.errors import Unauthorized
from webapp.kit.clock import MINUTE

_FRESH = "read a moment ago"


def recent() -> tuple[Project, ...]:
    """The projects, read within the last minute; none for members, or where they cannot be told."""
    if not viewer().may_build:
        return ()
    return dashboard().projects.get(_FRESH) or if_up(_read_if_told) or ()


def _read_if_told() -> tuple[Project, ...]:
    """The projects; none where the service does not tell this client, which is no failure of it."""
    try:
        return read_anew()
    except Unauthorized:
        return dashboard().projects.put(_FRESH, (), MINUTE)


def changed() -> None:
    """The projects have just been changed: every web process reads them anew."""
    dashboard().changes.add(PROJECTS)
    read_anew()


def read_anew() -> tuple[Project, ...]:
    """The projects as they are now."""
    kept = dashboard().projects
    projects = Projects(dashboard().client).list().items
    kept.put(KNOWN_PROJECTS, projects)
    return kept.put(_FRESH, projects, MINUTE)


def unnamed() -> bool:
    """Whether an owner should be asked where people may turn: the viewer's project has an address that nobody gave."""
    projects = recent()
    assumed = {f"support@{host}" for host in ("localhost", urlsplit(dashboard().settings.public_url).hostname)}
    waiting = {project.id for project in projects if project.support_email in assumed}
    return viewer().role == "owner" and bool(waiting) and viewer().client.project_id in waiting
