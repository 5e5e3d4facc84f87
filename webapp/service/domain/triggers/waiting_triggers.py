"""Triggers that wait, and why: an account needs its person, or the app, the component or its pinned version went away.

Their ticks pass, and requests for them stay in the :mod:`inbox`, without failing, until what is missing is back.
"""

from collections.abc import Sequence

from webapp.service.domain.accounts import apps
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, among

ACCOUNT_NEEDED = "It waits, because its account needs you: reconnect the account."


def reasons(service: Service, triggers: Sequence[DeployedTrigger]) -> dict[str, str]:
    """Why those of ``triggers`` that wait do so, in a sentence, by their ids."""
    dead = of_dead_accounts(service.store, [trigger.id for trigger in triggers])
    needed = dict.fromkeys(dead, ACCOUNT_NEEDED)
    by_id = {trigger.id: removed_reason(service, trigger) or needed.get(trigger.id) for trigger in triggers}
    return {trigger_id: reason for trigger_id, reason in by_id.items() if reason}


def of_dead_accounts(reader: Reader, trigger_ids: Sequence[str]) -> set[str]:
    """The triggers that wait for a person to reconnect an account."""
    listed, params = among(trigger_ids)
    rows = reader.all(
        "SELECT DISTINCT trigger_id FROM trigger_accounts JOIN accounts ON accounts.id = account_id "  # noqa: S608
        f"WHERE trigger_id IN ({listed}) AND accounts.dead = 1",
        params,
    )
    return {row["trigger_id"] for row in rows}


def removed_reason(service: Service, trigger: DeployedTrigger) -> str | None:
    """Why the component of ``trigger`` is not in the catalog in its version; None if it is."""
    component = service.catalog.component(trigger.component_key, trigger.component_version)
    if component is not None:
        return None
    newest = service.catalog.component(trigger.component_key)
    if newest is not None:
        old, new = trigger.component_version, newest.version
        return f"It waits, because version {old} was removed from this service. Change it to version {new}."
    if trigger.app is None or service.catalog.app(trigger.app):
        component_key = trigger.component_key
        return f"It waits, because {component_key} was removed from this service. It continues when that is added back."
    removed_app = apps.facts(service, trigger.app)["name"]
    return f"It waits, because {removed_app} was removed from this service. It continues when the app is added back."
