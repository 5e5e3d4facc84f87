"""Looking after an account: rename, test, revoke, what uses it, what happened to it. Extensions, ours alone."""

from typing import Any

from flask import Response

from webapp.service.api.accounts.accounts import READ, WRITE, load
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, Paged
from webapp.service.domain.accounts import accounts, health, lifecycle
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.projects import history
from webapp.service.domain.projects.history import HistoryEntry
from webapp.service.domain.triggers import accounts as trigger_accounts
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


class NewName(Body):
    """The account's own name; null removes it."""

    name: str | None


def rename(call: Call) -> Response:
    """Give an account its own name."""
    account = load(call)
    renamed = lifecycle.rename(call.service, account, call.body(NewName).name)
    return _shown(call, renamed)


def test(call: Call) -> Response:
    """Test an account now. What was found stands in the account: trouble at the provider is no error of ours."""
    return _shown(call, health.check(call.service, load(call)))


def revoke(call: Call) -> Response:
    """Take the access back at the provider; 409 where the provider has no way to do it."""
    return _shown(call, health.revoke(call.service, load(call)))


def uses(call: Call) -> Response:
    """What stops without this account: the triggers deployed with it."""
    account = load(call)
    return answers.page(trigger_accounts.uses(call.store, account, call.query(Paged).window), _use)


def past(call: Call) -> Response:
    """What happened to an account, newest first."""
    account = load(call)
    return answers.page(history.of_account(call.store, account.id, call.query(Paged).window), HistoryEntry.to_json)


def _use(trigger: DeployedTrigger) -> dict[str, Any]:
    return {"id": trigger.id, "kind": "trigger", "name": trigger.name, "app": trigger.app, "active": trigger.active}


def _shown(call: Call, account: Account) -> Response:
    return answers.json(accounts.to_json(call.service, account, extensions=True))


ONE = "P/accounts/<account_id>"
OPERATIONS = (
    Operation("rename_account", "PATCH", ONE, rename, WRITE, body=NewName),
    Operation("test_account", "POST", f"{ONE}/test", test, WRITE),
    Operation("revoke_account", "POST", f"{ONE}/revoke", revoke, WRITE),
    Operation("list_account_uses", "GET", f"{ONE}/uses", uses, READ, query=Paged),
    Operation("list_account_history", "GET", f"{ONE}/history", past, READ, query=Paged),
)
