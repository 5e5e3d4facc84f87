"""Deployed triggers (table ``deployed_triggers``; contract "Deployed triggers"): reading and listing them.

Every query by id is limited to an owner: a scene, and for a Connect token its user. Only :mod:`lifecycle` writes rows;
:mod:`deployments` deploys and :mod:`fire` runs them. A row whose deployment is still running its hooks is found only by
its endpoint, since the provider may call it back at once.
"""

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import orjson

from webapp import quotas
from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.crypto import hash_token
from webapp.service.components.masking import Mask
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.activity import Subject
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx, among
from webapp.store.table import Rows, indexed_condition

MAX_SLUG = 60
Emitter = Literal["source", "http", "timer", "email"]
EMITTERS: tuple[Emitter, ...] = ("source", "http", "timer", "email")
TABLE = "deployed_triggers"
_REQUEST_PROPS = ("$.interface.http", "$.interface.apphook")
ABSENT = "There is no such deployed trigger."
_USING = (
    "id IN (SELECT trigger_id FROM trigger_workflows WHERE endpoint_id = :workflow) "
    "AND project_id = :project AND environment = :environment AND deployed = 1"
)


@dataclass(frozen=True, slots=True)
class DeployedTrigger:
    """One deployed trigger. ``external_user_id`` is our id (``exu_…``), ``external_id`` the developer's.

    ``props`` are the configurable props it was deployed with; ``schedule`` is ``{"intervalSeconds"}`` or ``{"cron",
    "timezone"}``. ``switched_off`` is the reason if the system switched it off; None if a person did.
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
    emit_on_deploy: bool
    schedule: Mapping[str, Any] | None
    schedule_changed_at: int | None
    endpoint_sealed: bytes | None = field(repr=False)
    email_local: str | None
    created_at: int
    updated_at: int
    active: bool = True
    switched_off: str | None = None
    next_run_at: int | None = None
    turn: int = 0
    failures: int = 0
    last_run_at: int | None = None
    last_error: str | None = None
    last_event_at: int | None = None
    mark: str | None = None

    @property
    def instant(self) -> bool:
        """Whether it is fired by requests or mails, rather than by polling."""
        return self.emitter in ("http", "email") or (
            self.schedule is None and any(prop["type"] in _REQUEST_PROPS for prop in self.props)
        )

    @property
    def polls_when_notified(self) -> bool:
        """Whether it polls, and its app may notify it of news."""
        return (
            self.emitter == "source"
            and self.schedule is not None
            and any(prop["type"] == "$.interface.http" for prop in self.props)
        )

    @property
    def is_notified_at_client(self) -> bool:
        """Whether its app, if it notifies it, does so at the URL of the account's OAuth client, as its code says."""
        return any(prop["type"] == "$.interface.http" and prop.get("at") == "client" for prop in self.props)

    @property
    def receives_app_events(self) -> bool:
        """Whether it receives the events that come to the address of an OAuth client."""
        return any(prop["type"] == "$.interface.apphook" for prop in self.props)

    @property
    def polls_at_events(self) -> bool:
        """Whether those events only let it poll at once."""
        return any(prop["type"] == "$.interface.apphook" and prop.get("polls") for prop in self.props)

    @property
    def custom_response(self) -> bool:
        """Whether callers of its endpoint wait for the trigger's own response."""
        return any(prop.get("customResponse") for prop in self.props)

    @property
    def subject(self) -> Subject:
        """The subject of this trigger's entries in the activity."""
        return Subject("", self.scene, self.external_user_id, self.app or "", self.id)

    @property
    def user(self) -> ExternalUser:
        """The external user that owns the trigger."""
        return ExternalUser(self.external_user_id, self.external_id, self.scene)


ROWS = Rows(TABLE, DeployedTrigger)
CONFIGURED, ENDPOINT = SealedColumn(TABLE, "configured_sealed"), SealedColumn(TABLE, "endpoint_sealed")
SEALED = (CONFIGURED, ENDPOINT)


@dataclass(frozen=True, slots=True)
class Filter:
    """The filters of a list; ``external_id`` is the developer's id of the user, no ``emitter`` means all."""

    external_id: str | None = None
    emitter: Emitter | None = None
    app: str | None = None


def get(reader: Reader, scene: Scene, trigger_id: str, *, user: ExternalUser | None = None) -> DeployedTrigger:
    """The trigger ``trigger_id`` of ``scene``, and of ``user`` if given. Raises :class:`NotFound`."""
    trigger = ROWS.one(reader, "id = :id AND deployed = 1", {"id": trigger_id})
    if trigger is None or trigger.scene != scene or (user is not None and trigger.external_user_id != user.id):
        raise NotFound(ABSENT)
    return trigger


def find(reader: Reader, trigger_id: str) -> DeployedTrigger | None:
    """The trigger ``trigger_id`` of any owner, for internal work and never for a caller."""
    return ROWS.get(reader, trigger_id)


def by_endpoint(reader: Reader, key: str) -> DeployedTrigger | None:
    """The trigger that answers at ``/h/<key>``, active or not."""
    return ROWS.one(reader, "endpoint_hash = :hash", {"hash": hash_token(key)})


def by_email(reader: Reader, local: str) -> DeployedTrigger | None:
    """The trigger whose address begins with ``local``, active or not."""
    return ROWS.one(reader, "email_local = :local", {"local": local.lower()})


def page(reader: Reader, scene: Scene, filters: Filter, window: cursors.Window) -> cursors.Page[DeployedTrigger]:
    """Triggers of ``scene``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    user = None
    if filters.external_id is not None:
        user = external_users.find(reader, scene, filters.external_id)
        if user is None:
            return cursors.Page([], 0, "", "")
    chosen = {"external_user_id": user.id if user else None, "app": filters.app, "emitter": filters.emitter}
    where, params = indexed_condition(asdict(scene), chosen, alone=("external_user_id",))
    return ROWS.page(reader, window, f"{where} AND deployed = 1", params)


def of_user(reader: Reader, user: ExternalUser) -> list[DeployedTrigger]:
    """Every trigger of one user, oldest first."""
    where = "external_user_id = :user AND deployed = 1 ORDER BY created_at, id"
    return ROWS.all(reader, where, {"user": user.id})


def own_ids(reader: Reader, user: ExternalUser, trigger_ids: Sequence[str]) -> list[str]:
    """Those of ``trigger_ids`` that are triggers of ``user``."""
    those, params = among(trigger_ids)
    rows = reader.tuples(
        f"SELECT id FROM {TABLE} WHERE id IN ({those}) AND external_user_id = :user AND deployed = 1",  # noqa: S608
        {**params, "user": user.id},
    )
    return [trigger_id for (trigger_id,) in rows]


def of_project(reader: Reader, project_id: str) -> list[DeployedTrigger]:
    """Every trigger of a project, in both environments."""
    where = "project_id = :project AND deployed = 1 ORDER BY created_at, id"
    return ROWS.all(reader, where, {"project": project_id})


def check_quotas(service: Service, reader: Reader, user: ExternalUser) -> None:
    """Raise :class:`webapp.errors.Forbidden` unless ``user`` and their project may have one trigger more."""
    params = {"user": user.id, "project": user.scene.project_id}
    service.check_quota(quotas.USER_TRIGGERS, ROWS.count(reader, "external_user_id = :user", params) + 1)
    service.check_quota(quotas.PROJECT_TRIGGERS, ROWS.count(reader, "project_id = :project", params) + 1)


def free_slug(reader: Reader, external_user_id: str, name: str, *, but: str = "") -> str:
    """The slug for a trigger called ``name``: with -2, -3, … where another (not ``but``) of the user has it."""
    base = _slug(name)
    rows = reader.all(
        "SELECT name_slug FROM deployed_triggers WHERE external_user_id = :user AND id <> :but "
        "AND name_slug >= :base AND name_slug < :above",
        {"user": external_user_id, "but": but, "base": base, "above": base + "\U0010ffff"},
    )
    taken = {row["name_slug"] for row in rows}
    slugs = (base if number == 1 else f"{base}-{number}" for number in itertools.count(1))
    return next(slug for slug in slugs if slug not in taken)


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG].strip("-") or "trigger"


def fullest(reader: Reader) -> tuple[int, int]:
    """The largest number of triggers of a user, and of a project."""
    most = "SELECT COUNT(*) AS n FROM deployed_triggers GROUP BY {} ORDER BY n DESC LIMIT 1"
    user, project = (reader.tuples(most.format(column)) for column in ("external_user_id", "project_id"))
    return (user[0][0] if user else 0), (project[0][0] if project else 0)


def configured(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """The values of ``trigger`` (``configured_props``), including secrets."""
    values: dict[str, Any] = orjson.loads(_open(CONFIGURED, service, trigger, trigger.configured_sealed))
    return values


def endpoint_key(service: Service, trigger: DeployedTrigger) -> str | None:
    """The key in its own URL; None for one without a URL."""
    if trigger.endpoint_sealed is None:
        return None
    return _open(ENDPOINT, service, trigger, trigger.endpoint_sealed).decode()


def mask_of(service: Service, trigger_id: str) -> Mask | None:
    """The mask that hides the secret part of the trigger's own URL; None for a trigger that no longer exists."""
    trigger = find(service.store, trigger_id)
    if trigger is None:
        return None
    key = endpoint_key(service, trigger)
    return Mask((key,) if key else ())


def endpoint_url(service: Service, trigger: DeployedTrigger) -> str | None:
    """The trigger's own URL; None for a trigger without one."""
    key = endpoint_key(service, trigger)
    return service.settings.trigger_url(key) if key else None


def seal_configured(service: Service, tx: Tx, scene: Scene, trigger_id: str, values: Mapping[str, Any]) -> bytes:
    """``values`` for :attr:`DeployedTrigger.configured_sealed`, in the transaction that writes them."""
    return CONFIGURED.seal(service, tx, scene.project_id, trigger_id, orjson.dumps(values))


def _open(column: SealedColumn, service: Service, trigger: DeployedTrigger, box: bytes) -> bytes:
    try:
        return column.open(service, trigger.scene.project_id, trigger.id, box)
    except KeyGone:
        if find(service.store, trigger.id) is None:
            raise NotFound(ABSENT) from None
        raise


def first_of_workflow(reader: Reader, scene: Scene, workflow: Endpoint, limit: int) -> list[DeployedTrigger]:
    """At most ``limit`` triggers of ``scene`` that use ``workflow``, the oldest first."""
    params = {**scene.params, "workflow": workflow.id, "limit": limit}
    return ROWS.all(reader, f"{_USING} ORDER BY created_at, id LIMIT :limit", params)


def count_of_workflow(reader: Reader, scene: Scene, workflow: Endpoint) -> int:
    """The number of triggers of ``scene`` that use ``workflow``."""
    return ROWS.count(reader, _USING, {**scene.params, "workflow": workflow.id})
