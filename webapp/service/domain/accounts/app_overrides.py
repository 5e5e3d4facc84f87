"""App overrides (table ``app_overrides``): named preset values for the fields of an app, of a whole project.

A preset field is not asked of the person who connects; a secret one cannot be preset. For an OAuth app an override
may also name the client to use. An account keeps what it was connected with: changing or deleting an override changes
no account.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp import audit
from webapp.errors import Conflict, Detail, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.ids import new_id
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import apps, fields, provider_clients
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import like
from webapp.store.contract import Reader, Row, Tx

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


@dataclass(frozen=True, slots=True)
class Draft:
    """What an override is to be."""

    name: str
    oauth_app_id: str | None
    fields: Mapping[str, Any]


def create(service: Service, project_id: str, app: App, draft: Draft) -> AppOverride:
    """Make an override for ``app``. Raises :class:`Invalid`, :class:`Conflict` for a name that is taken."""
    now, override_id = service.clock(), new_id("aov")
    values = _values(service, project_id, app, draft)
    with service.store.write() as tx:
        _check_free(tx, project_id, draft.name.strip())
        tx.run(
            "INSERT INTO app_overrides (id, project_id, app, name, oauth_app_id, fields, created_at, updated_at) "
            "VALUES (:id, :project, :app, :name, :oauth_app, :fields, :now, :now)",
            {**values, "id": override_id, "project": project_id, "app": app.slug, "now": now},
        )
        _note(tx, now, project_id, override_id, "created", f"Made the app override “{values['name']}”.")
        return get(tx, project_id, override_id)


def update(service: Service, override: AppOverride, draft: Draft) -> AppOverride:
    """Make ``override`` what ``draft`` says. Raises like :func:`create`."""
    values = _values(service, override.project_id, service.app(override.app), draft)
    with service.store.write() as tx:
        if draft.name.strip() != override.name:
            _check_free(tx, override.project_id, draft.name.strip())
        tx.run(
            "UPDATE app_overrides SET name = :name, oauth_app_id = :oauth_app, fields = :fields, updated_at = :now "
            "WHERE id = :id",
            {**values, "id": override.id, "now": service.clock()},
        )
        sentence = f"Changed the app override “{values['name']}”."
        _note(tx, service.clock(), override.project_id, override.id, "updated", sentence)
        return get(tx, override.project_id, override.id)


def get(reader: Reader, project_id: str, override_id: str) -> AppOverride:
    """The override ``override_id`` of a project. Raises :class:`NotFound`."""
    sql = "SELECT * FROM app_overrides WHERE id = :id AND project_id = :project"
    row = reader.one(sql, {"id": override_id, "project": project_id})
    if row is None:
        raise NotFound("There is no such app override.")
    return _override(row)


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
        where, params["q"] = f"{where} AND LOWER(name) LIKE :q ESCAPE '!'", f"%{like(q.lower())}%"
    mark = cursors.fingerprint("app_overrides", where, params)
    plan = cursors.keyset(window, mark, ("created_at", "id"), descending=False)
    rows = reader.all(
        f"SELECT * FROM app_overrides WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    total = reader.one(f"SELECT COUNT(*) AS n FROM app_overrides WHERE {where}", params)  # noqa: S608
    found = [_override(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda one: (one.created_at, one.id), total["n"] if total else 0)


def remove(service: Service, override: AppOverride) -> None:
    """Delete ``override``; links that name it end with a sentence."""
    with service.store.write() as tx:
        tx.run("DELETE FROM app_overrides WHERE id = :id", {"id": override.id})
        sentence = f"Removed the app override “{override.name}”."
        _note(tx, service.clock(), override.project_id, override.id, "deleted", sentence)


def _note(tx: Tx, at: int, project_id: str, override_id: str, verb: str, sentence: str) -> None:
    audit.write(tx, at, "app_override", override_id, verb, sentence, project=project_id)


def _values(service: Service, project_id: str, app: App, draft: Draft) -> dict[str, Any]:
    """The columns that ``draft`` decides, checked. Raises :class:`Invalid`."""
    name, details = draft.name.strip(), list[Detail]()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        details.append(Detail("name", f"Use 1 to {MAX_NAME} printable characters."))
    if draft.oauth_app_id is not None and not _usable(service, project_id, app, draft.oauth_app_id):
        details.append(Detail("oauth_app_id", f"There is no such OAuth client for {app.name}."))
    preset, problems = fields.preset(app, draft.fields)
    details += [Detail(f"cfmap.{one.field}", one.message) for one in problems]
    if details:
        raise Invalid(f"{details[0].field} is not valid: {details[0].message}", details)
    return {"name": name, "oauth_app": draft.oauth_app_id, "fields": json.dumps(preset)}


def _usable(service: Service, project_id: str, app: App, oauth_app_id: str) -> bool:
    try:
        return app.auth_type == "oauth" and bool(
            provider_clients.choose(service.store, project_id, app.slug, oauth_app_id)
        )
    except NotFound:
        return False


def _check_free(tx: Tx, project_id: str, name: str) -> None:
    sql = "SELECT 1 FROM app_overrides WHERE project_id = :project AND name = :name"
    if tx.one(sql, {"project": project_id, "name": name}):
        raise Conflict(f"There is an app override named “{name}” already; choose another name.")


def _override(row: Row) -> AppOverride:
    return AppOverride(
        id=row["id"],
        project_id=row["project_id"],
        app=row["app"],
        name=row["name"],
        oauth_app_id=row["oauth_app_id"],
        fields=json.loads(row["fields"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
