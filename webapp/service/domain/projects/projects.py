"""Projects (table ``projects``), to which the Connect resources of an installation belong.

Each has two environments.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from webapp import audit
from webapp.errors import Conflict, Detail, Invalid, NotFound, about
from webapp.kit import cursors
from webapp.kit.contrast import DEFAULT_HUE, MAX_HUE
from webapp.kit.crypto import new_id
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table, drop_counts

Environment = Literal["development", "production"]
UNNAMED = "My project"
ENVIRONMENTS: tuple[Environment, ...] = ("development", "production")
MAX_NAME = 100
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>]{1,64}@[^\s@\x00-\x1f\x7f<>]{1,190}")


@dataclass(frozen=True, slots=True)
class Project:
    """A project (contract "Projects"). ``brand_hue`` is its colour: degrees of OKLCH."""

    id: str
    name: str
    app_name: str
    support_email: str
    connect_require_key_auth_test: bool
    created_at: int
    updated_at: int
    brand_hue: int = DEFAULT_HUE

    def to_json(self) -> dict[str, Any]:
        """The project as the API shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "app_name": self.app_name,
            "support_email": self.support_email,
            "connect_require_key_auth_test": self.connect_require_key_auth_test,
        }


_PROJECTS = Table("projects", Project)


@dataclass(frozen=True, slots=True)
class Scene:
    """One environment of one project: what every Connect resource belongs to."""

    project_id: str
    environment: Environment

    @property
    def params(self) -> dict[str, str]:
        """The parameters ``:project`` and ``:environment`` of a statement about it."""
        return {"project": self.project_id, "environment": self.environment}


def environment(text: str) -> Environment:
    """``text`` as an environment. Raises :class:`Invalid`."""
    if text not in ENVIRONMENTS:
        detail = Detail("x-pd-environment", "Use development or production.")
        raise Invalid("The header x-pd-environment must be development or production.", [detail])
    return text


def create(
    service: Service,
    *,
    name: str,
    app_name: str = "",
    support_email: str = "",
    require_key_test: bool = True,
    brand_hue: int = DEFAULT_HUE,
) -> Project:
    """Make a project with its own data key; without a support address, one at the service's own host is assumed.

    Raises :class:`Invalid` with a detail per field.
    """
    project = prepare(
        service,
        name=name,
        app_name=app_name,
        support_email=support_email,
        require_key_test=require_key_test,
        brand_hue=brand_hue,
    )
    with service.store.write() as tx:
        insert(service, tx, project)
    return project


def prepare(
    service: Service,
    *,
    name: str,
    app_name: str,
    support_email: str,
    require_key_test: bool = True,
    brand_hue: int = DEFAULT_HUE,
) -> Project:
    """A project that was checked, ready to be stored; as :func:`create`."""
    now, texts = service.clock(), (name, app_name or name, support_email or assumed_email(service))
    return _checked(Project(new_id("proj"), *texts, require_key_test, now, now, brand_hue))


def insert(service: Service, tx: Tx, project: Project) -> None:
    """Store a prepared project with its own data key."""
    _PROJECTS.insert(tx, project)
    service.keys.add_project(tx, project.id)
    _note(tx, project.created_at, project.id, "created", f"Made the project “{project.name}”.")


def update(service: Service, project: Project, **changes: Any) -> Project:
    """Change fields of ``project``: its hue, and those of its JSON but the id.

    Raises :class:`Invalid` with a detail per field.
    """
    with service.store.write() as tx:
        return change(service, tx, project, **changes)


def change(service: Service, tx: Tx, project: Project, **changes: Any) -> Project:
    """:func:`update` in a transaction."""
    changed = _checked(replace(project, **changes, updated_at=service.clock()))
    columns = changed.to_json() | {"brand_hue": changed.brand_hue, "updated_at": changed.updated_at}
    del columns["id"]
    _PROJECTS.update(tx, project.id, **columns)
    _note(tx, changed.updated_at, project.id, "updated", f"Changed the project: {', '.join(changes)}.")
    return get(tx, project.id)


def assumed_email(service: Service) -> str:
    """The support address of a project without one."""
    return f"support@{urlsplit(service.settings.public_url).hostname}"


def check_removable(service: Service, project: Project) -> None:
    """Raise :class:`Conflict` for the default project that the settings name, in which the dashboard works."""
    if service.settings.project == project.id:
        raise Conflict("The dashboard works in this project; set PATCHBAY_PROJECT to another one first.")


def erase(service: Service, tx: Tx, project_id: str) -> None:
    """Remove a project with everything that belongs to it, and the keys without which no copy of it opens."""
    _note(tx, service.clock(), project_id, "deleted", f"Removed the project “{get(tx, project_id).name}”.")
    _PROJECTS.delete(tx, project_id)
    drop_counts(tx, f"{project_id}|")
    service.keys.forget_project(tx, project_id)


def get(reader: Reader, project_id: str, *, only: str | None = None) -> Project:
    """The project ``project_id``, for a client that sees ``only`` one project or all. Raises :class:`NotFound`."""
    project = _PROJECTS.get(reader, project_id)
    if project is None or (only is not None and only != project_id):
        raise NotFound("There is no such project.")
    return project


def first(reader: Reader) -> Project | None:
    """The oldest project."""
    return _PROJECTS.one(reader, "1 = 1 ORDER BY created_at, id LIMIT 1")


def default_id(service: Service, reader: Reader) -> str | None:
    """The id of the project to work in by default: the settings', else the oldest's, else None."""
    if service.settings.project:
        return service.settings.project
    oldest = first(reader)
    return oldest.id if oldest else None


def default(service: Service) -> str:
    """The same; where there is no project, one is made."""
    return default_id(service, service.store) or create(service, name=UNNAMED).id


def page(
    reader: Reader, window: cursors.Window, *, q: str | None = None, only: str | None = None
) -> cursors.Page[Project]:
    """Projects in the order of their making, whose name holds ``q``. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = "1 = 1", dict[str, Any]()
    if only is not None:
        where, params = where + " AND id = :only", {"only": only}
    if q:
        where, params["q"] = f"{where} AND (holds(name, :q) OR holds(app_name, :q))", q
    return _PROJECTS.page(reader, window, where, params)


def _note(tx: Tx, at: int, project_id: str, verb: str, sentence: str) -> None:
    audit.write(tx, at, "project", project_id, verb, sentence, project=project_id)


def _checked(project: Project) -> Project:
    """``project`` with its texts trimmed. Raises :class:`Invalid`."""
    name, app_name, email = (text.strip() for text in (project.name, project.app_name, project.support_email))
    details = problems(name, app_name, email, project.brand_hue)
    if details:
        raise Invalid(about(details[0].field, details[0].message), details)
    return replace(project, name=name, app_name=app_name, support_email=email)


def problems(name: str, app_name: str, email: str, hue: int) -> list[Detail]:
    """The problems of the values, by field."""
    details = [
        Detail(field, f"Use 1 to {MAX_NAME} printable characters.")
        for field, text in (("name", name), ("app_name", app_name))
        if not text or len(text) > MAX_NAME or not text.isprintable()
    ]
    if not _EMAIL.fullmatch(email):
        details.append(Detail("support_email", "Use an e-mail address such as help@example.com."))
    if not 0 <= hue <= MAX_HUE:
        details.append(Detail("brand_hue", f"Use a whole number from 0 to {MAX_HUE}."))
    return details
