"""App overrides (table ``app_overrides``): named preset values for the fields of an app, in a project.

The person who connects is not asked for a preset field; a secret one cannot be preset. For an OAuth app an override may
also name the client to use. An account keeps the values it was connected with: changing or deleting an override changes
no account.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp import audit
from webapp.errors import Conflict, Detail, Invalid, NotFound, about
from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.crypto import new_id
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import apps, fields, oauth_apps
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class AppOverride:
    """One override; ``app`` is a slug and ``fields`` are the preset values by their names."""

    id: str
    project_id: str
    app: str
    name: str
    oauth_app_id: str | None
    fields: Mapping[str, str]
    created_at: int
    updated_at: int

    def to_json(self, service: Service) -> dict[str, Any]:
        """The override as the API shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "app": apps.facts(service, self.app),
            "oauth_app_id": self.oauth_app_id,
            "cfmap": dict(self.fields),
            "owner_id": self.project_id,
            "created_at": iso(self.created_at),
            "updated_at": iso(self.updated_at),
        }


_OVERRIDES = Table("app_overrides", AppOverride)


@dataclass(frozen=True, slots=True)
class Draft:
    """The values of a new or changed override."""

    name: str
    oauth_app_id: str | None
    fields: Mapping[str, Any]


def create(service: Service, project_id: str, app: App, draft: Draft) -> AppOverride:
    """Make an override for ``app``. Raises :class:`Invalid`, :class:`Conflict` for a name that is taken."""
    now, values = service.clock(), _values(service, project_id, app, draft)
    override = AppOverride(new_id("aov"), project_id, app.slug, **values, created_at=now, updated_at=now)
    with service.store.write() as tx:
        _check_free(tx, project_id, override.name)
        _OVERRIDES.insert(tx, override)
        _note(tx, now, override, "created", f"Made the app override “{override.name}”.")
    return override


def update(service: Service, override: AppOverride, draft: Draft) -> AppOverride:
    """Change ``override`` to ``draft``. Raises like :func:`create`."""
    now, values = service.clock(), _values(service, override.project_id, service.app(override.app), draft)
    with service.store.write() as tx:
        if values["name"] != override.name:
            _check_free(tx, override.project_id, values["name"])
        _OVERRIDES.update(tx, override.id, **values, updated_at=now)
        _note(tx, now, override, "updated", f"Changed the app override “{values['name']}”.")
        return get(tx, override.project_id, override.id)


def get(reader: Reader, project_id: str, override_id: str) -> AppOverride:
    """The override ``override_id`` of a project. Raises :class:`NotFound`."""
    override = _OVERRIDES.get(reader, override_id)
    if override is None or override.project_id != project_id:
        raise NotFound("There is no such app override.")
    return override


def page(
    reader: Reader, project_id: str, window: cursors.Window, *, app: str | None = None, q: str | None = None
) -> cursors.Page[AppOverride]:
    """Overrides of a project, oldest first: of one app (by its slug), whose name holds ``q``.

    Raises :class:`webapp.kit.cursors.BadCursor`.
    """
    where, params = "project_id = :project", dict[str, Any](project=project_id)
    if app is not None:
        where, params["app"] = f"{where} AND app = :app", app
    if q:
        where, params["q"] = f"{where} AND holds(name, :q)", q
    return _OVERRIDES.page(reader, window, where, params)


def remove(service: Service, override: AppOverride) -> None:
    """Delete ``override``; links that name it end with a sentence."""
    with service.store.write() as tx:
        _OVERRIDES.delete(tx, override.id)
        _note(tx, service.clock(), override, "deleted", f"Removed the app override “{override.name}”.")


def _note(tx: Tx, at: int, override: AppOverride, verb: str, sentence: str) -> None:
    audit.write(tx, at, "app_override", override.id, verb, sentence, project=override.project_id)


def _values(service: Service, project_id: str, app: App, draft: Draft) -> dict[str, Any]:
    """The columns that ``draft`` decides, checked. Raises :class:`Invalid`."""
    name, details = draft.name.strip(), list[Detail]()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        details.append(Detail("name", f"Use 1 to {MAX_NAME} printable characters."))
    if draft.oauth_app_id is not None and not _usable(service, project_id, app, draft.oauth_app_id):
        details.append(Detail("oauth_app_id", f"There is no such OAuth client for {app.name}."))
    values, problems = preset(app, draft.fields)
    details += [Detail(f"cfmap.{problem.field}", problem.message) for problem in problems]
    if details:
        raise Invalid(about(details[0].field, details[0].message), details)
    return {"name": name, "oauth_app_id": draft.oauth_app_id, "fields": values}


def preset(app: App, presets: Mapping[str, Any]) -> tuple[dict[str, str], list[Detail]]:
    """The values in ``presets`` that may be preset for ``app``, and the problems of the others."""
    values, details = dict[str, str](), list[Detail]()
    known = {field.name: field for field in app.spec.fields}
    for name, value in presets.items():
        field = known.get(name)
        if field is None:
            details.append(Detail(name, f"{app.name} has no such field."))
        elif field.secret:
            details.append(Detail(name, "It is secret, so only the person who connects may enter it."))
        elif not isinstance(value, str | int) or isinstance(value, bool):
            details.append(Detail(name, "It must be a string."))
        elif problem := fields.problem(field, str(value).strip(), optional=False):
            details.append(Detail(name, problem))
        else:
            values[name] = fields.kept(field, str(value).strip())
    return values, details


def _usable(service: Service, project_id: str, app: App, oauth_app_id: str) -> bool:
    try:
        client = oauth_apps.choose(service.store, project_id, app.slug, oauth_app_id)
    except NotFound:
        return False
    return app.takes_clients and client is not None


def _check_free(tx: Tx, project_id: str, name: str) -> None:
    if _OVERRIDES.count(tx, "project_id = :project AND name = :name", {"project": project_id, "name": name}):
        raise Conflict(f"There is an app override named “{name}” already; choose another name.")
