"""The accounts of triggers (table ``trigger_accounts``). A trigger whose account is removed is switched off, with the
reason; while its account only needs its person, it waits (:mod:`waiting_triggers`)."""

from collections.abc import Mapping, Sequence

from webapp.kit import cursors
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx, among

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


def page_of_account(reader: Reader, account_id: str, window: cursors.Window) -> cursors.Page[DeployedTrigger]:
    """The triggers that work with the account, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return deployed_triggers.ROWS.page(reader, window, _USING, {"account": account_id})


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
