"""Where deliveries go (tables ``endpoints``, ``trigger_workflows``): what an endpoint is, and how its rows are read,
made and removed.

    owner           id     belongs to                                signed with
    trigger         wh_…   one deployed trigger and one URL          its own key
    workflow        p_…    a named URL of a project's environment    its own key
    project         wh_…   a project's environment, at most one      the project's key
    notification    wh_…   a token's webhook_uri, one for each URL   the project's key
    general         wh_…   the workspace, or one project             the project's key

What deliveries do to an endpoint's state stands in :mod:`endpoint_state`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from webapp.errors import Detail, Invalid, NotFound
from webapp.kit.ids import new_id
from webapp.kit.signing import new_signing_key
from webapp.service.domain.base.keyring import INSTANCE, KeyGone, Place
from webapp.service.domain.base.sealed import WHOLE_INSTALLATION, SealedColumn
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import counts, endpoint_audit, signing_keys
from webapp.service.domain.deliveries.trigger_reference import TriggerReference
from webapp.service.domain.projects.projects import Environment, Scene
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_url
from webapp.store.contract import Reader, Row, Tx

Owner = Literal["trigger", "workflow", "project", "notification", "general"]
MAX_URLS, MAX_URL = 20, 2_000
_OWN_KEY = ("trigger", "workflow")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One URL that deliveries go to; ``state`` is 'happy', 'penalty' or 'deactivated'. Times in epoch milliseconds."""

    id: str
    project_id: str | None
    environment: Environment | None
    owner: Owner
    trigger_id: str | None
    user_id: str | None
    name: str | None
    description: str | None
    url: str
    key_sealed: bytes | None = field(repr=False)
    active: bool
    state: str
    state_since: int
    last_error: str | None
    consecutive_failures: int
    sheds: int
    failing_since: int | None
    position: int
    created_at: int
    updated_at: int


def for_trigger(
    tx: Tx, service: Service, trigger: TriggerReference, urls: Sequence[str], workflow_ids: Sequence[str] = ()
) -> None:
    """Let the events of ``trigger`` go to exactly these URLs and workflows; URLs that stay keep their id and key.

    Raises :class:`Invalid` for a bad URL or an unknown workflow.
    """
    set_urls(tx, service, trigger, urls)
    set_workflows(tx, trigger, workflow_ids)


def set_urls(tx: Tx, service: Service, trigger: TriggerReference, urls: Sequence[str]) -> None:
    """The URLs alone; workflows stay what they are. Raises :class:`Invalid`."""
    wanted = list(dict.fromkeys(urls))
    if len(wanted) > MAX_URLS:
        raise _invalid("webhook_urls", f"A trigger can have at most {MAX_URLS} webhooks.")
    for url in wanted:
        check_url("webhook_urls", url)
    there = {one.url: one for one in of_trigger(tx, trigger.id)}
    for url, one in there.items():
        if url not in wanted:
            remove(tx, one, service.clock())
    for position, url in enumerate(wanted):
        found = there.get(url) or add(tx, service, "trigger", url, scene=trigger.scene, trigger_id=trigger.id)
        if found.position != position:
            tx.run("UPDATE endpoints SET position = :at WHERE id = :id", {"at": position, "id": found.id})


def set_workflows(tx: Tx, trigger: TriggerReference, workflow_ids: Sequence[str]) -> None:
    """The workflows that events of ``trigger`` go to. Raises :class:`Invalid` for one that its scene does not have."""
    wanted = list(dict.fromkeys(workflow_ids))
    for workflow_id in wanted:
        found = find(tx, workflow_id)
        if found is None or found.owner != "workflow" or not _stands_in(found, trigger.scene):
            raise _invalid("workflow_id", f"There is no workflow {workflow_id[:40]!r} in this project and environment.")
    tx.run("DELETE FROM trigger_workflows WHERE trigger_id = :trigger", {"trigger": trigger.id})
    for position, workflow_id in enumerate(wanted):
        tx.run(
            "INSERT INTO trigger_workflows (trigger_id, endpoint_id, position) VALUES (:trigger, :endpoint, :at)",
            {"trigger": trigger.id, "endpoint": workflow_id, "at": position},
        )


def of_trigger(reader: Reader, trigger_id: str) -> list[Endpoint]:
    """The webhooks of a trigger, in the order in which they were given."""
    return _all(reader, "trigger_id = :trigger ORDER BY position, created_at, id", trigger=trigger_id)


def workflows_of(reader: Reader, trigger_id: str) -> list[Endpoint]:
    """The workflows that a trigger's events go to, in the order in which they were given."""
    rows = reader.all(
        "SELECT e.* FROM trigger_workflows w JOIN endpoints e ON e.id = w.endpoint_id WHERE w.trigger_id = :trigger "
        "ORDER BY w.position, e.id",
        {"trigger": trigger_id},
    )
    return [of_row(row) for row in rows]


def targets(reader: Reader, trigger: TriggerReference) -> list[Endpoint]:
    """Where an event of ``trigger`` goes: its webhooks and workflows, and where it has none the project webhook.

    Deactivated ones are among them, so that what they miss can be sent once they are mended.
    """
    own = [*of_trigger(reader, trigger.id), *workflows_of(reader, trigger.id)]
    if own:
        return own
    found = of_project(reader, trigger.scene)
    return [found] if found else []


def of_project(reader: Reader, scene: Scene) -> Endpoint | None:
    """The project webhook of ``scene``, if there is one."""
    found = of_scene(reader, scene, "project")
    return found[0] if found else None


def of_scene(reader: Reader, scene: Scene, owner: Owner) -> list[Endpoint]:
    """Every endpoint of one kind in ``scene``, oldest first."""
    where = "project_id = :project AND environment = :environment AND owner = :owner ORDER BY created_at, id"
    return _all(reader, where, project=scene.project_id, environment=scene.environment, owner=owner)


def of_url(reader: Reader, scene: Scene, owner: Owner, url: str) -> list[Endpoint]:
    """The endpoints of one kind in ``scene`` with this URL."""
    where = "project_id = :project AND environment = :environment AND owner = :owner AND url = :url ORDER BY id"
    params = {"project": scene.project_id, "environment": scene.environment, "owner": owner, "url": url}
    return _all(reader, where, **params)


def general(reader: Reader, project_id: str) -> list[Endpoint]:
    """The general webhooks that hear of ``project_id``: those of the workspace and those of the project."""
    where = "owner = 'general' AND (project_id IS NULL OR project_id = :project) ORDER BY created_at, id"
    return _all(reader, where, project=project_id)


def find(reader: Reader, endpoint_id: str) -> Endpoint | None:
    """The endpoint ``endpoint_id``, for those who hold it through its owner."""
    found = _all(reader, "id = :id", id=endpoint_id)
    return found[0] if found else None


def webhook(reader: Reader, trigger_id: str, webhook_id: str) -> Endpoint:
    """One webhook of a trigger. Raises :class:`NotFound`."""
    found = find(reader, webhook_id)
    if found is None or found.trigger_id != trigger_id:
        raise NotFound("There is no such webhook.")
    return found


def add(
    tx: Tx,
    service: Service,
    owner: Owner,
    url: str,
    *,
    scene: Scene | None,
    trigger_id: str | None = None,
    user_id: str | None = None,
    name: str | None = None,
    description: str | None = None,
    project_id: str | None = None,
) -> Endpoint:
    """Make an endpoint; the caller has checked ``url``. Without a ``scene`` it is for all of ``project_id``, or all."""
    endpoint_id, now = new_id("p" if owner == "workflow" else "wh"), service.clock()
    project = scene.project_id if scene else project_id
    sealed = _sealed_key(tx, service, project, endpoint_id, new_signing_key()) if owner in _OWN_KEY else None
    if scene is not None and sealed is None:
        signing_keys.ensure(tx, service, scene)
    tx.run(
        "INSERT INTO endpoints (id, project_id, environment, owner, trigger_id, user_id, name, description, url, "
        "key_sealed, active, state, state_since, created_at, updated_at) VALUES (:id, :project, :environment, :owner, "
        ":trigger, :user, :name, :description, :url, :sealed, 1, 'happy', :now, :now, :now)",
        {
            "id": endpoint_id,
            "project": project,
            "environment": scene.environment if scene else None,
            "owner": owner,
            "trigger": trigger_id,
            "user": user_id,
            "name": name,
            "description": description,
            "url": url,
            "sealed": sealed,
            "now": now,
        },
    )
    (made,) = _all(tx, "id = :id", id=endpoint_id)
    _note(tx, now, made, "created")
    return made


def move(tx: Tx, endpoint: Endpoint, url: str, now: int) -> None:
    """Give ``endpoint`` another URL, which starts without a past."""
    tx.run(
        "UPDATE endpoints SET url = :url, active = 1, state = 'happy', state_since = :now, last_error = NULL, "
        "consecutive_failures = 0, sheds = 0, failing_since = NULL, updated_at = :now WHERE id = :id",
        {"url": url, "now": now, "id": endpoint.id},
    )
    _note(tx, now, replace(endpoint, url=url), "moved")


def remove(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """Remove an endpoint with its deliveries."""
    counts.removed_with(tx, "endpoint_id = :id", {"id": endpoint.id})
    tx.run("DELETE FROM endpoints WHERE id = :id", {"id": endpoint.id})
    _note(tx, now, endpoint, "removed")


def regenerate_key(tx: Tx, service: Service, endpoint: Endpoint) -> None:
    """Give an endpoint that signs with its own key a new one."""
    sealed = _sealed_key(tx, service, endpoint.project_id, endpoint.id, new_signing_key())
    tx.run(
        "UPDATE endpoints SET key_sealed = :sealed, updated_at = :now WHERE id = :id",
        {"sealed": sealed, "now": service.clock(), "id": endpoint.id},
    )
    _note(tx, service.clock(), endpoint, "key_regenerated")


def signing_key(service: Service, trigger_id: str, url: str) -> str:
    """The key (``whsec_…``) that deliveries of a trigger to ``url`` are signed with. Raises :class:`NotFound`."""
    for found in of_trigger(service.store, trigger_id):
        if found.url == url:
            return key_of(service, found)
    raise NotFound("There is no such webhook.")


def key_of(service: Service, endpoint: Endpoint, scene: Scene | None = None) -> str:
    """The key that signs what goes to ``endpoint``; ``scene`` is the event's, for those of the whole workspace.

    Not to be called inside a transaction.
    """
    if endpoint.key_sealed is None:
        own = scene or scene_of(endpoint)
        if own is None:
            raise LookupError(f"{endpoint.id} signs with a project's key, and no project was named")
        return signing_keys.of_scene(service, own)
    try:
        return service.keys.open_box(_place(endpoint.project_id, endpoint.id), endpoint.key_sealed).decode()
    except KeyGone:  # sealed anew by a rotation since it was read
        again = find(service.store, endpoint.id)
        if again is None or again.key_sealed == endpoint.key_sealed:
            raise
        return key_of(service, again)


def scene_of(endpoint: Endpoint) -> Scene | None:
    """The environment that ``endpoint`` belongs to; none for those of the whole workspace."""
    if endpoint.project_id is None or endpoint.environment is None:
        return None
    return Scene(endpoint.project_id, endpoint.environment)


def check_url(field: str, url: str) -> None:
    """Raise :class:`Invalid` unless ``url`` is an http or https address with a host.

    Whether it may be reached is decided by the guard each time something is sent.
    """
    if len(url) > MAX_URL:
        raise _invalid(field, f"An address can have at most {MAX_URL:,} characters.")
    found = parse_url(url)
    if isinstance(found, Failure):
        raise _invalid(field, found.sentence)


def _sealed_key(tx: Tx, service: Service, project_id: str | None, endpoint_id: str, key: str) -> bytes:
    return service.keys.seal_box(tx, _place(project_id, endpoint_id), key.encode())


def _note(tx: Tx, at: int, one: Endpoint, verb: str) -> None:
    where = {"project": one.project_id, "environment": one.environment}
    endpoint_audit.note(tx, at, verb, endpoint_id=one.id, owner=one.owner, url=one.url, **where)


def _stands_in(endpoint: Endpoint, scene: Scene) -> bool:
    return scene_of(endpoint) == scene


def _invalid(field: str, message: str) -> Invalid:
    return Invalid(f"{field} is not valid: {message}", [Detail(field, message)])


def _place(project_id: str | None, row: str) -> Place:
    return Place(project_id or INSTANCE, "endpoints", row, "key")


SEALED = SealedColumn("endpoints", "key_sealed", owner=WHOLE_INSTALLATION)


def _all(reader: Reader, where: str, **params: Any) -> list[Endpoint]:
    return [of_row(row) for row in reader.all(f"SELECT * FROM endpoints WHERE {where}", params)]  # noqa: S608


def of_row(row: Row) -> Endpoint:
    """The endpoint in a row of the table."""
    return Endpoint(**{**row, "active": bool(row["active"])})
