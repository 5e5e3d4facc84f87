"""Deployed triggers (table ``deployed_triggers``; contract "Deployed triggers"): reading and listing them.

Every look-up by id goes through an owner: a scene, and for a Connect token its user. Rows are written by
:mod:`lifecycle` alone; what deploying means stands in :mod:`deploying`, what a tick does in :mod:`firing`. A row whose
hooks are still running at its deployment is found by its endpoint alone, since the provider may call it back at once.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import orjson

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.service.domain.base.keyring import KeyGone, Place
from webapp.service.domain.base.sealed import SealedColumn
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.history import Subject
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx

Emitter = Literal["source", "http", "timer", "email"]
EMITTERS: tuple[Emitter, ...] = ("source", "http", "timer", "email")
TABLE = "deployed_triggers"
T = TypeVar("T")
ABSENT = "There is no such deployed trigger."


@dataclass(frozen=True, slots=True)
class DeployedTrigger:
    """One deployed trigger. ``external_user_id`` is our id (``exu_…``), ``external_id`` the developer's.

    ``props`` are the configurable props it was deployed with; ``schedule`` is ``{"intervalSeconds"}`` or
    ``{"cron", "timezone"}``. ``switched_off`` tells why the system switched it off; None when a person did.
    """

    id: str
    scene: Scene
    external_user_id: str
    external_id: str
    emitter: Emitter
    component_id: str
    component_key: str
    component_version: str
    app: str | None
    name: str
    name_slug: str
    props: list[dict[str, Any]] = field(repr=False)
    configured_sealed: bytes = field(repr=False)
    dynamic_props_id: str | None
    active: bool
    switched_off: str | None
    emit_on_deploy: bool
    schedule: Mapping[str, Any] | None
    schedule_changed_at: int | None
    next_run_at: int | None
    turn: int
    failures: int
    last_run_at: int | None
    last_error: str | None
    last_event_at: int | None
    mark: str | None
    endpoint_sealed: bytes | None = field(repr=False)
    email_local: str | None
    created_at: int
    updated_at: int

    @property
    def instant(self) -> bool:
        """Whether it is told by requests or mails, rather than by asking."""
        kinds = ("$.interface.http", "$.interface.apphook")
        return self.emitter in ("http", "email") or any(one["type"] in kinds for one in self.props)

    @property
    def custom_response(self) -> bool:
        """Whether whoever calls its endpoint waits for the trigger's own answer."""
        return any(one.get("customResponse") for one in self.props)

    @property
    def subject(self) -> Subject:
        """Whose history this trigger's is."""
        return Subject("", self.scene, self.external_user_id, self.app or "", self.id)

    @property
    def user(self) -> ExternalUser:
        """Whose it is."""
        return ExternalUser(self.external_user_id, self.external_id, self.scene)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list is limited to; ``external_id`` is the developer's id of the user, no ``emitter`` means all."""

    external_id: str | None = None
    emitter: Emitter | None = None
    app: str | None = None


def get(reader: Reader, scene: Scene, trigger_id: str, *, user: ExternalUser | None = None) -> DeployedTrigger:
    """The trigger ``trigger_id`` of ``scene``, and of ``user`` when one is given. Raises :class:`NotFound`."""
    row = reader.one(
        "SELECT * FROM deployed_triggers WHERE id = :id AND project_id = :project AND environment = :environment "
        "AND deployed = 1",
        {"id": trigger_id, "project": scene.project_id, "environment": scene.environment},
    )
    if row is None or (user is not None and row["external_user_id"] != user.id):
        raise NotFound(ABSENT)
    return from_row(row)


def find(reader: Reader, trigger_id: str) -> DeployedTrigger | None:
    """The trigger ``trigger_id``, whosever it is: for our own work alone, never for a caller."""
    row = reader.one("SELECT * FROM deployed_triggers WHERE id = :id", {"id": trigger_id})
    return from_row(row) if row else None


def by_endpoint(reader: Reader, key: str) -> DeployedTrigger | None:
    """The trigger that answers at ``/h/<key>``, active or not."""
    row = reader.one("SELECT * FROM deployed_triggers WHERE endpoint_hash = :hash", {"hash": endpoint_hash(key)})
    return from_row(row) if row else None


def by_email(reader: Reader, local: str) -> DeployedTrigger | None:
    """The trigger whose address begins with ``local``, active or not."""
    row = reader.one("SELECT * FROM deployed_triggers WHERE email_local = :local", {"local": local.lower()})
    return from_row(row) if row else None


def page(reader: Reader, scene: Scene, wanted: Filter, window: cursors.Window) -> cursors.Page[DeployedTrigger]:
    """Triggers of ``scene``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = "project_id = :project AND environment = :environment AND deployed = 1", dict[str, Any]()
    params.update(project=scene.project_id, environment=scene.environment)
    for column, value in (("external_id", wanted.external_id), ("emitter", wanted.emitter), ("app", wanted.app)):
        if value is not None:
            where, params[column] = f"{where} AND {column} = :{column}", value
    mark = cursors.fingerprint("deployed_triggers", where, params)
    plan = cursors.keyset(window, mark, ("created_at", "id"), descending=False)
    rows = reader.all(
        f"SELECT * FROM deployed_triggers WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    total = reader.one(f"SELECT COUNT(*) AS n FROM deployed_triggers WHERE {where}", params)  # noqa: S608
    found = [from_row(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda one: (one.created_at, one.id), total["n"] if total else 0)


def of_user(reader: Reader, user: ExternalUser) -> list[DeployedTrigger]:
    """Every trigger of one user, oldest first."""
    sql = "SELECT * FROM deployed_triggers WHERE external_user_id = :user AND deployed = 1 ORDER BY created_at, id"
    return [from_row(row) for row in reader.all(sql, {"user": user.id})]


def of_project(reader: Reader, project_id: str) -> list[DeployedTrigger]:
    """Every trigger of a project, in both environments."""
    sql = "SELECT * FROM deployed_triggers WHERE project_id = :project AND deployed = 1 ORDER BY created_at, id"
    return [from_row(row) for row in reader.all(sql, {"project": project_id})]


def configured(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """The values it was given (``configured_props``), secrets among them."""
    return _opened(service, trigger, lambda one: _load(service, one))


def endpoint_key(service: Service, trigger: DeployedTrigger) -> str | None:
    """The key in its own URL, ``/h/<key>``; None for one without a URL."""
    if trigger.endpoint_sealed is None:
        return None
    return _opened(service, trigger, lambda one: _key(service, one))


def endpoint_url(service: Service, trigger: DeployedTrigger) -> str | None:
    """Its own URL; None for one without."""
    key = endpoint_key(service, trigger)
    return f"{service.settings.public_url}/h/{key}" if key else None


def seal_configured(service: Service, tx: Tx, scene: Scene, trigger_id: str, values: Mapping[str, Any]) -> bytes:
    """``values`` for :attr:`DeployedTrigger.configured_sealed`, in the transaction that writes them."""
    return service.keys.seal_box(tx, place("configured")(scene.project_id, trigger_id), orjson.dumps(values))


def seal_endpoint(service: Service, tx: Tx, scene: Scene, trigger_id: str, key: str) -> bytes:
    """``key`` for :attr:`DeployedTrigger.endpoint_sealed`, in the transaction that writes it."""
    return service.keys.seal_box(tx, place("endpoint")(scene.project_id, trigger_id), key.encode())


def endpoint_hash(key: str) -> str:
    """What the key of an endpoint is found by."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def from_row(row: Row) -> DeployedTrigger:
    """The trigger in one whole row."""
    return DeployedTrigger(
        scene=Scene(row["project_id"], row["environment"]),
        props=orjson.loads(row["props"]),
        active=bool(row["active"]),
        emit_on_deploy=bool(row["emit_on_deploy"]),
        schedule=orjson.loads(row["schedule"]) if row["schedule"] else None,
        **{name: row[name] for name in _AS_THEY_ARE},
    )


def place(name: str) -> Callable[[str, str], Place]:
    """Where a sealed field of a row stands."""
    return lambda project_id, trigger_id: Place(project_id, TABLE, trigger_id, name)


def changing_columns(trigger: DeployedTrigger) -> dict[str, Any]:
    """The columns that a change writes."""
    return {
        **{name: getattr(trigger, name) for name in _CHANGING},
        "props": orjson.dumps(trigger.props).decode(),
        "active": int(trigger.active),
        "emit_on_deploy": int(trigger.emit_on_deploy),
        "schedule": orjson.dumps(dict(trigger.schedule)).decode() if trigger.schedule else None,
    }


def _opened(service: Service, trigger: DeployedTrigger, read: Callable[[DeployedTrigger], T]) -> T:
    """``read`` of the row, once more where a rotation sealed it anew since it was read."""
    try:
        return read(trigger)
    except KeyGone:
        again = find(service.store, trigger.id)
        if again is None:
            raise NotFound(ABSENT) from None
        return read(again)


def _load(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    where = place("configured")(trigger.scene.project_id, trigger.id)
    found: dict[str, Any] = orjson.loads(service.keys.open_box(where, trigger.configured_sealed))
    return found


def _key(service: Service, trigger: DeployedTrigger) -> str:
    where = place("endpoint")(trigger.scene.project_id, trigger.id)
    return service.keys.open_box(where, trigger.endpoint_sealed or b"").decode()


_CHANGING = (
    "emitter", "component_id", "component_key", "component_version", "app", "name", "name_slug", "configured_sealed",
    "dynamic_props_id", "switched_off", "schedule_changed_at", "next_run_at", "failures", "last_run_at", "last_error",
    "last_event_at", "mark", "updated_at",
)  # fmt: skip
_AS_THEY_ARE = (
    *_CHANGING, "id", "external_user_id", "external_id", "turn", "endpoint_sealed", "email_local", "created_at",
)  # fmt: skip


SEALED = (SealedColumn(TABLE, "configured_sealed"), SealedColumn(TABLE, "endpoint_sealed"))
