"""Endpoints (table ``endpoints``): the addresses that deliveries go to, and the state of each.

    owner           id     belongs to                                signed with
    trigger         wh_…   one deployed trigger and one URL          its own key
    workflow        p_…    a named URL of a project's environment    its own key
    project         wh_…   a project's environment, at most one      the project's key
    notification    wh_…   a token's webhook_uri, one for each URL   the project's key
    general         wh_…   the workspace, or one project             the project's key
    removed         wh_…   nobody: it is kept for the log of its deliveries, and gets no more

A URL often contains a secret, so it is sealed. Its public part is stored as well, and a hash by which it is found.
Those of earlier versions are sealed when the folder is opened.

:mod:`signing_keys` has the project's keys, :mod:`trigger_webhooks` the webhooks and workflows of a trigger,
:mod:`event_targets` says where its events go, and :mod:`endpoint_state` has the changes of state.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from webapp import audit
from webapp.errors import Invalid, NotFound
from webapp.kit.clock import Deadline
from webapp.kit.crypto import CannotOpen, new_id
from webapp.service.domain.base.keyring import INSTANCE, KeyGone
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service
from webapp.service.domain.deliveries import signing_keys
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Environment, Scene
from webapp.service.outbound.urls import masked_url
from webapp.store.contract import NOTHING, Params, Reader, Tx
from webapp.store.table import Table

Owner = Literal["trigger", "workflow", "project", "notification", "general", "removed"]
REMOVED = "The webhook was removed."
LOOK_UP_S = 3.0
_OWN_KEY = ("trigger", "workflow")
_AUDITED = {
    "created": "A webhook ({owner}) was added, at {host}.",
    "moved": "A webhook ({owner}) now leads to {host}.",
    "removed": "A webhook ({owner}) at {host} was removed.",
    "key_regenerated": "A webhook ({owner}) at {host} has a new signing key.",
}
SEAL_BATCH = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One URL that deliveries go to; ``state`` is 'happy', 'penalty' or 'deactivated'. Times in epoch milliseconds."""

    id: str
    project_id: str | None
    environment: Environment | None
    owner: Owner
    masked_url: str
    state_since: int
    created_at: int
    updated_at: int
    trigger_id: str | None = None
    user_id: str | None = None
    name: str | None = None
    description: str | None = None
    key_sealed: bytes | None = field(default=None, repr=False)
    position: int = 0
    active: bool = True
    state: str = "happy"
    last_error: str | None = None
    consecutive_failures: int = 0
    sheds: int = 0
    failing_since: int | None = None
    url_sealed: bytes = field(default=b"", repr=False)
    url_hash: str = ""


class Failing(NamedTuple):
    """Since when an endpoint fails (epoch milliseconds), and how often in a row."""

    since: int
    in_a_row: int


_KEY = SealedColumn("endpoints", "key_sealed", owner=WHOLE_INSTALLATION)
_URL = SealedColumn("endpoints", "url_sealed", owner=WHOLE_INSTALLATION)
SEALED = (_KEY, _URL)
_ENDPOINTS = Table("endpoints", Endpoint)


def find(reader: Reader, endpoint_id: str) -> Endpoint | None:
    """The endpoint ``endpoint_id``, for callers that have it from its owner."""
    return _ENDPOINTS.get(reader, endpoint_id)


def select(reader: Reader, where: str, params: Params = NOTHING) -> list[Endpoint]:
    """The endpoints that meet the condition ``where``, which may end with an order."""
    return _ENDPOINTS.all(reader, where, params)


def of_project(reader: Reader, scene: Scene) -> Endpoint | None:
    """The project webhook of ``scene``, if there is one."""
    return next(iter(of_scene(reader, scene, "project")), None)


def of_scene(reader: Reader, scene: Scene, owner: Owner) -> list[Endpoint]:
    """Every endpoint of one kind in ``scene``, oldest first."""
    where = "project_id = :project AND environment = :environment AND owner = :owner ORDER BY created_at, id"
    return select(reader, where, {**scene.params, "owner": owner})


def of_url(reader: Reader, service: Service, scene: Scene, owner: Owner, url: str) -> list[Endpoint]:
    """The endpoints of one kind in ``scene`` with this URL."""
    where = "project_id = :project AND environment = :environment AND owner = :owner AND url_hash = :hash ORDER BY id"
    return select(reader, where, {**scene.params, "owner": owner, "hash": hash_of(service, url)})


def general(reader: Reader, project_id: str) -> list[Endpoint]:
    """The general webhooks that get notifications of ``project_id``: those of the workspace and those of the
    project.
    """
    where = "owner = 'general' AND (project_id IS NULL OR project_id = :project) ORDER BY created_at, id"
    return select(reader, where, {"project": project_id})


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
    position: int = 0,
    not_found: str | None = None,
) -> Endpoint:
    """Create an endpoint. The caller has checked ``url``; ``not_found`` says why its name does not resolve yet.

    Without a ``scene`` it is for all of ``project_id``, or for all projects.
    """
    endpoint_id, now = new_id("p" if owner == "workflow" else "wh"), service.clock()
    project = scene.project_id if scene else project_id
    sealed = _new_key(tx, service, project, endpoint_id) if owner in _OWN_KEY else None
    if scene is not None and sealed is None:
        signing_keys.ensure(tx, service, scene)
    where = (project, scene.environment if scene else None)
    facts = (trigger_id, user_id, name, description)
    endpoint = Endpoint(endpoint_id, *where, owner, "", now, now, now, *facts, key_sealed=sealed, position=position)
    address = address_of(tx, service, project, endpoint_id, url)
    endpoint = replace(endpoint, last_error=not_found, **address)
    _ENDPOINTS.insert(tx, endpoint)
    _audit(tx, now, endpoint, "created")
    return endpoint


def move(tx: Tx, service: Service, endpoint: Endpoint, url: str, not_found: str | None = None) -> None:
    """Give ``endpoint`` another URL and reset its state; ``not_found`` says why its name does not resolve yet."""
    address = address_of(tx, service, endpoint.project_id, endpoint.id, url)
    restart(tx, endpoint, service.clock(), last_error=not_found, **address)


def restart(tx: Tx, endpoint: Endpoint, now: int, **changes: Any) -> None:
    """Reset the state of ``endpoint`` to that of a new one, with ``changes``."""
    healthy = {"active": True, "state": "happy", "state_since": now, "last_error": None, "failing_since": None}
    _ENDPOINTS.update(tx, endpoint.id, **healthy | {"consecutive_failures": 0, "sheds": 0, "updated_at": now} | changes)
    _audit(tx, now, replace(endpoint, **changes), "moved")


def place(tx: Tx, endpoint: Endpoint, position: int) -> None:
    """Give ``endpoint`` its place among those of its trigger, from 0."""
    if endpoint.position != position:
        _ENDPOINTS.update(tx, endpoint.id, position=position)


def remove(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """Mark an endpoint as removed, for :func:`endpoint_state.remove`. Its address stays with its deliveries."""
    gone = {"owner": "removed", "trigger_id": None, "key_sealed": None, "active": False, "state": "deactivated"}
    _ENDPOINTS.update(tx, endpoint.id, **gone, state_since=now, last_error=REMOVED, updated_at=now)
    _audit(tx, now, endpoint, "removed")


def purge(tx: Tx) -> int:
    """Delete removed endpoints that have no deliveries left; return their number."""
    return tx.run(
        "DELETE FROM endpoints WHERE owner = 'removed' "
        "AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint_id = endpoints.id)"
    )


def regenerate_key(tx: Tx, service: Service, endpoint: Endpoint) -> None:
    """Give an endpoint that signs with its own key a new one."""
    sealed, now = _new_key(tx, service, endpoint.project_id, endpoint.id), service.clock()
    _ENDPOINTS.update(tx, endpoint.id, key_sealed=sealed, updated_at=now)
    _audit(tx, now, endpoint, "key_regenerated")


def key_of(service: Service, endpoint: Endpoint, scene: Scene | None = None) -> str:
    """The key that signs what goes to ``endpoint``; ``scene`` is the event's, for those of the whole workspace.

    Not to be called inside a transaction.
    """
    if endpoint.key_sealed is None:
        own = scene or scene_of(endpoint)
        if own is None:
            raise LookupError(f"{endpoint.id} signs with a project's key, and no project was named")
        return signing_keys.key_of(service, own)
    return _KEY.open(service, endpoint.project_id or INSTANCE, endpoint.id, endpoint.key_sealed).decode()


def url_of(service: Service, endpoint: Endpoint) -> str:
    """The full URL of ``endpoint``, to send something there or for those who may see it."""
    return _URL.open(service, endpoint.project_id or INSTANCE, endpoint.id, endpoint.url_sealed).decode(
        "utf-8", "surrogatepass"
    )


def hash_of(service: Service, url: str) -> str:
    """The hash by which a URL is found."""
    return service.keys.keyed_hash("webhook-addresses", url)


def address_of(tx: Tx, service: Service, project_id: str | None, endpoint_id: str, url: str) -> dict[str, Any]:
    """The columns of a URL."""
    box = _URL.seal(service, tx, project_id or INSTANCE, endpoint_id, url.encode("utf-8", "surrogatepass"))
    return {"masked_url": masked_url(url), "url_sealed": box, "url_hash": hash_of(service, url)}


def write(tx: Tx, endpoint_id: str, **columns: Any) -> None:
    """Write columns other than those of the URL; :mod:`workflows` calls it, too."""
    _ENDPOINTS.update(tx, endpoint_id, **columns)


def scene_of(endpoint: Endpoint) -> Scene | None:
    """The environment that ``endpoint`` belongs to; none for those of the whole workspace."""
    project_id, environment = endpoint.project_id, endpoint.environment
    return Scene(project_id, environment) if project_id is not None and environment is not None else None


def check_urls(service: Service, field: str, *urls: str) -> dict[str, str]:
    """Check addresses outside of any transaction, since their names are resolved.

    Returns, for each whose name does not resolve yet, a sentence that says so; it may later. Raises :class:`Invalid`
    for a malformed address, or one that the guard would never permit.
    """
    deadline, not_found = Deadline(LOOK_UP_S), dict[str, str]()
    for url in urls:
        failure = service.unreachable(url, deadline)
        if failure and failure.kind != "dns":
            raise Invalid.of(field, failure.sentence)
        if failure:
            not_found[url] = failure.sentence
    return not_found


def record_failures(tx: Tx, endpoint_id: str, count: int, error: str, now: int, *, penalty_from: int) -> Failing | None:
    """Count ``count`` failures in a row, of which ``penalty_from`` put it in penalty; None when it is switched off."""
    rows = tx.tuples(
        "UPDATE endpoints SET consecutive_failures = consecutive_failures + :failures, last_error = :error, "
        "failing_since = COALESCE(failing_since, :now), updated_at = :now, "
        "state = CASE WHEN consecutive_failures + :failures >= :many THEN 'penalty' ELSE state END, "
        "state_since = CASE WHEN state = 'happy' AND consecutive_failures + :failures >= :many THEN :now "
        "ELSE state_since END WHERE id = :id AND active = 1 RETURNING failing_since, consecutive_failures",
        {"failures": count, "error": error, "now": now, "many": penalty_from, "id": endpoint_id},
    )
    return Failing(*rows[0]) if rows else None


def record_success(tx: Tx, endpoint_id: str, now: int) -> int:
    """End a series of failures, and how often deliveries were put off in it. Writes nothing for a healthy endpoint."""
    rows = tx.tuples(
        "UPDATE endpoints SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, updated_at = :now, "
        "state_since = CASE WHEN state = 'happy' THEN state_since ELSE :now END, state = 'happy' "
        "WHERE id = :id AND active = 1 AND last_error IS NOT NULL RETURNING sheds",
        {"now": now, "id": endpoint_id},
    )
    return rows[0][0] if rows else 0


def switch_off(tx: Tx, endpoint_id: str, reason: str, now: int) -> None:
    """Deactivate an endpoint, unless it is already, and keep the reason."""
    tx.run(
        "UPDATE endpoints SET active = 0, state = 'deactivated', state_since = :now, last_error = :reason, "
        "updated_at = :now WHERE id = :id AND active = 1",
        {"reason": reason, "now": now, "id": endpoint_id},
    )


def record_sheds(tx: Tx, endpoint_id: str, count: int) -> None:
    """Count deliveries that were put off."""
    tx.run("UPDATE endpoints SET sheds = sheds + :count WHERE id = :id", {"count": count, "id": endpoint_id})


def _new_key(tx: Tx, service: Service, project_id: str | None, endpoint_id: str) -> bytes:
    return _KEY.seal(service, tx, project_id or INSTANCE, endpoint_id, signing_keys.new_signing_key().encode())


def _audit(tx: Tx, at: int, endpoint: Endpoint, verb: str) -> None:
    """Record a change in the audit log, with only the host of the address, which may contain a key.

    Nobody creates a token's ``webhook_uri``.
    """
    if endpoint.owner != "notification":
        host = urlsplit(endpoint.masked_url).hostname or "an address"
        sentence = _AUDITED[verb].format(owner=endpoint.owner, host=host)
        where = {"project": endpoint.project_id, "environment": endpoint.environment}
        audit.write(tx, at, "webhook", endpoint.id, verb, sentence, **where)


def seal_clear_addresses(service: Service) -> bool:
    """Seal and hash the next addresses that an earlier version stored in the clear; whether there were any."""
    if not select(service.store, "url_hash IS NULL LIMIT 1"):
        return False
    with service.store.write() as tx:
        for endpoint in select(tx, "url_hash IS NULL ORDER BY id LIMIT :limit", {"limit": SEAL_BATCH}):
            write(tx, endpoint.id, **_address(tx, service, endpoint))
    return True


def forget_hashes(tx: Tx) -> None:
    """Have all URLs hashed again when the folder is next opened, since the key of the hashes is replaced."""
    for endpoint in select(tx, "url_hash IS NOT NULL"):
        write(tx, endpoint.id, url_hash=None)


def _address(tx: Tx, service: Service, endpoint: Endpoint) -> dict[str, Any]:
    """The columns of the endpoint's URL, which is in ``masked_url`` until it is sealed."""
    if not endpoint.url_sealed:
        return address_of(tx, service, endpoint.project_id, endpoint.id, endpoint.masked_url)
    try:
        return {"url_hash": hash_of(service, url_of(service, endpoint))}
    except (CannotOpen, KeyGone):
        return {"url_hash": endpoint.id}  # it is damaged, and cannot be found by its URL


def general_webhooks(reader: Reader, only: str | None = None) -> list[Endpoint]:
    """General webhooks, oldest first; those of the project ``only`` if given."""
    if only is None:
        return select(reader, "owner = 'general' ORDER BY created_at, id")
    where = "owner = 'general' AND project_id = :project ORDER BY created_at, id"
    return select(reader, where, {"project": only})


def get_general(reader: Reader, webhook_id: str, only: str | None = None) -> Endpoint:
    """One of them. Raises :class:`NotFound`."""
    webhook = find(reader, webhook_id)
    if webhook is None or webhook.owner != "general" or only not in (None, webhook.project_id):
        raise NotFound("There is no such webhook.")
    return webhook


def scene_of_general_test(
    service: Service, webhook: Endpoint, project_id: str | None, environment: Environment
) -> Scene:
    """The scene of a test of ``webhook``: in ``project_id``, else in its own project, else in the default one.

    Raises :class:`NotFound` for a project whose notifications the webhook does not get.
    """
    project_id = project_id or webhook.project_id or projects.default_id(service, service.store)
    if project_id is None:
        raise NotFound("There is no project yet.")
    projects.get(service.store, project_id, only=webhook.project_id)
    return Scene(project_id, environment)
