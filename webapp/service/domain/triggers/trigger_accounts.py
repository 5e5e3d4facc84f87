"""The accounts of triggers (table ``trigger_accounts``), and what happens to a trigger if one stops working.

A trigger whose account is dead waits: its ticks pass without failing until the person reconnects. So does one whose
app, or pinned version of its component, was removed. One whose account was removed is switched off, with the reason.
"""

from collections.abc import Mapping, Sequence

from webapp.kit import cursors
from webapp.service.domain.accounts import apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx, among

WAITS = "It waits, because its account needs you: reconnect the account."
_USING = "id IN (SELECT trigger_id FROM trigger_accounts WHERE account_id = :account) AND deployed = 1"


def set_accounts(tx: Tx, trigger_id: str, accounts: Mapping[str, str]) -> None:
    """Store the accounts of a trigger, by app prop."""
    tx.run("DELETE FROM trigger_accounts WHERE trigger_id = :id", {"id": trigger_id})
    for prop, account_id in accounts.items():
        tx.run(
            "INSERT INTO trigger_accounts (trigger_id, prop, account_id) VALUES (:id, :prop, :account)",
            {"id": trigger_id, "prop": prop, "account": account_id},
        )


def of_triggers(reader: Reader, trigger_ids: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """The accounts of each trigger, as ``{"prop", "id"}``."""
    accounts: dict[str, list[dict[str, str]]] = {trigger_id: [] for trigger_id in trigger_ids}
    listed, params = among(trigger_ids)
    sql = f"SELECT trigger_id, prop, account_id FROM trigger_accounts WHERE trigger_id IN ({listed}) ORDER BY prop"  # noqa: S608
    for row in reader.all(sql, params):
        accounts[row["trigger_id"]].append({"prop": row["prop"], "id": row["account_id"]})
    return accounts


def waiting(reader: Reader, trigger_ids: Sequence[str]) -> set[str]:
    """The triggers that wait for a person to reconnect an account."""
    listed, params = among(trigger_ids)
    rows = reader.all(
        "SELECT DISTINCT trigger_id FROM trigger_accounts JOIN accounts ON accounts.id = account_id "  # noqa: S608
        f"WHERE trigger_id IN ({listed}) AND accounts.dead = 1",
        params,
    )
    return {row["trigger_id"] for row in rows}


def missing_reason(service: Service, trigger: DeployedTrigger) -> str | None:
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


def waiting_reasons(service: Service, triggers: Sequence[DeployedTrigger]) -> dict[str, str]:
    """Why those of ``triggers`` that wait do so, in a sentence, by their ids."""
    dead = waiting(service.store, [trigger.id for trigger in triggers])
    removed = {trigger.id: missing_reason(service, trigger) for trigger in triggers}
    reasons = {trigger_id: removed[trigger_id] or (WAITS if trigger_id in dead else "") for trigger_id in removed}
    return {trigger_id: reason for trigger_id, reason in reasons.items() if reason}


def page_of_account(reader: Reader, account: Account, window: cursors.Window) -> cursors.Page[DeployedTrigger]:
    """The triggers that work with ``account``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return deployed_triggers.ROWS.page(reader, window, _USING, {"account": account.id})


def active_of_account(reader: Reader, account_id: str) -> list[DeployedTrigger]:
    """Every active trigger that works with the account."""
    where = f"{_USING} AND active = 1 ORDER BY created_at, id"
    return deployed_triggers.ROWS.all(reader, where, {"account": account_id})


def switch_off_for_account(tx: Tx, service: Service, account: Account) -> list[str]:
    """Switch off what worked with ``account``, in the transaction that removes it; the names of those triggers."""
    app = service.catalog.app(account.app)
    name = account.name or account.identity_name or account.id
    reason = f"Its {app.name if app else account.app} account {name} was disconnected; choose another account."
    triggers = active_of_account(tx, account.id)
    for trigger in triggers:
        lifecycle.switch_off(tx, service, trigger, reason)
    return [trigger.name for trigger in triggers]
