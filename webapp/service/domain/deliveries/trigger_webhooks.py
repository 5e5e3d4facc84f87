"""A trigger's own webhooks, and the workflows that it sends events to (table ``trigger_workflows``).

Where an event goes with these, or without any, is in :mod:`webapp.service.domain.deliveries.event_targets`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from webapp.errors import Invalid, NotFound
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoint_state, endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.event_targets import TriggerReference
from webapp.store.contract import Reader, Tx, among

MAX_URLS = 20


def change_urls(service: Service, trigger: TriggerReference, urls: Sequence[str]) -> None:
    """Replace the webhooks of ``trigger`` by those of these URLs; URLs that stay keep their id and key.

    Raises :class:`Invalid` for too many, or for a new one that can never be reached.
    """
    urls = list(dict.fromkeys(urls))
    if len(urls) > MAX_URLS:
        raise Invalid.of("webhook_urls", f"A trigger can have at most {MAX_URLS} webhooks.")
    known = {endpoint.url_hash for endpoint in of_trigger(service.store, trigger.id)}
    new = (url for url in urls if endpoints.hash_of(service, url) not in known)
    not_found = endpoints.check_urls(service, "webhook_urls", *new)
    with service.store.write() as tx:
        set_urls(tx, service, trigger, urls, not_found)


def set_urls(
    tx: Tx,
    service: Service,
    trigger: TriggerReference,
    urls: Sequence[str],
    not_found: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """The same with checked URLs; ``not_found`` has those whose name does not resolve yet."""
    before = {endpoint.url_hash: endpoint for endpoint in of_trigger(tx, trigger.id)}
    hashes = {endpoints.hash_of(service, url): url for url in urls}
    for url_hash, endpoint in before.items():
        if url_hash not in hashes:
            endpoint_state.remove(tx, endpoint, service.clock())
    for position, (url_hash, url) in enumerate(hashes.items()):
        if url_hash in before:
            endpoints.place(tx, before[url_hash], position)
        else:
            missing = not_found.get(url)
            endpoints.add(
                tx, service, "trigger", url, scene=trigger.scene, trigger_id=trigger.id, position=position,
                not_found=missing,
            )  # fmt: skip


def set_workflows(
    tx: Tx, trigger: TriggerReference, workflow_ids: Sequence[str], *, field: str = "workflow_ids"
) -> None:
    """The workflows that events of ``trigger`` go to.

    Raises :class:`Invalid` for one that its scene does not have, by the ``field`` of the body that named it.
    """
    workflow_ids = list(dict.fromkeys(workflow_ids))
    for workflow_id in workflow_ids:
        workflow = endpoints.find(tx, workflow_id)
        if workflow is None or workflow.owner != "workflow" or endpoints.scene_of(workflow) != trigger.scene:
            message = f"There is no workflow {workflow_id[:40]!r} in this project and environment."
            raise Invalid.of(field, message)
    tx.run("DELETE FROM trigger_workflows WHERE trigger_id = :trigger", {"trigger": trigger.id})
    for position, workflow_id in enumerate(workflow_ids):
        tx.run(
            "INSERT INTO trigger_workflows (trigger_id, endpoint_id, position) VALUES (:trigger, :endpoint, :at)",
            {"trigger": trigger.id, "endpoint": workflow_id, "at": position},
        )


def forget_workflow(tx: Tx, workflow_id: str) -> None:
    """Let no trigger's events go to a workflow any more."""
    tx.run("DELETE FROM trigger_workflows WHERE endpoint_id = :workflow", {"workflow": workflow_id})


def of_trigger(reader: Reader, trigger_id: str) -> list[Endpoint]:
    """The webhooks of a trigger, in the order in which they were set."""
    where = "trigger_id = :trigger ORDER BY position, created_at, id"
    return endpoints.select(reader, where, {"trigger": trigger_id})


def webhooks_of(reader: Reader, trigger_ids: Sequence[str]) -> dict[str, list[Endpoint]]:
    """The same of several triggers, by their ids."""
    those, params = among(trigger_ids)
    by_trigger: dict[str, list[Endpoint]] = {trigger_id: [] for trigger_id in trigger_ids}
    where = f"trigger_id IN ({those}) ORDER BY trigger_id, position, created_at, id"
    for webhook in endpoints.select(reader, where, params):
        by_trigger[str(webhook.trigger_id)].append(webhook)
    return by_trigger


def workflows_of(reader: Reader, trigger_id: str) -> list[Endpoint]:
    """The workflows of a trigger, in the order in which they were set."""
    rows = reader.tuples(
        "SELECT endpoint_id FROM trigger_workflows WHERE trigger_id = :trigger ORDER BY position, endpoint_id",
        {"trigger": trigger_id},
    )
    workflows = (endpoints.find(reader, endpoint_id) for (endpoint_id,) in rows)
    return [workflow for workflow in workflows if workflow is not None]


def get(reader: Reader, trigger_id: str, webhook_id: str) -> Endpoint:
    """One webhook of a trigger. Raises :class:`NotFound`."""
    endpoint = endpoints.find(reader, webhook_id)
    if endpoint is None or endpoint.trigger_id != trigger_id:
        raise NotFound("There is no such webhook.")
    return endpoint


def first_signing_keys(service: Service, trigger_ids: Sequence[str]) -> dict[str, str]:
    """The key (``whsec_…``) of each trigger's first webhook, for those of the triggers that have one."""
    names = {f"id_{number}": trigger_id for number, trigger_id in enumerate(trigger_ids)}
    those = ", ".join(f":{name}" for name in names)
    where = f"trigger_id IN ({those}) ORDER BY trigger_id, position DESC, created_at DESC, id DESC"
    webhooks = endpoints.select(service.store, where, names)
    firsts = {webhook.trigger_id: webhook for webhook in webhooks}  # of one trigger's, the last one here stays
    return {str(trigger_id): endpoints.key_of(service, webhook) for trigger_id, webhook in firsts.items()}
