"""Looking after an account: rename, test and revoke it, what uses it, and what happened to it."""

from typing import Any

from flask import Response
from pydantic import Field

from webapp.service.api.accounts import models
from webapp.service.api.accounts.accounts import ACCOUNT_ID, ACCOUNTS, READ, WRITE, load
from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Body, Data, Page, Paged
from webapp.service.api.base.operations import PROVIDER_ERRORS, Example, Operations
from webapp.service.domain.accounts import accounts, health, lifecycle
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.activity import ActivityEntry
from webapp.service.domain.triggers import accounts as trigger_accounts
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

operations = Operations(ACCOUNTS, ACCOUNT_ID, read=READ, write=WRITE, extension=True)
ONE = "P/accounts/<account_id>"


class NewName(Body):
    """The account's own name; null removes it."""

    name: str | None = Field(description="What it is called.")


@operations.patch(ONE, answer=models.ExtendedAccount, body=NewName, example=Example(body={"name": "My tasks"}))
def rename_account(call: Call) -> Response:
    """Give an account its own name."""
    account = load(call)
    renamed = lifecycle.rename(call.service, account, call.body(NewName).name)
    return _answer(call, renamed)


@operations.post(f"{ONE}/test", answer=models.ExtendedAccount, errors=PROVIDER_ERRORS)
def test_account(call: Call) -> Response:
    """Test an account now. The account says what came of it: a failure at the provider is no error of this call."""
    return _answer(call, health.check(call.service, load(call)))


@operations.post(
    f"{ONE}/revoke",
    answer=models.ExtendedAccount,
    errors=PROVIDER_ERRORS,
    example=Example(path={"account_id": "$OTHER_ACCOUNT_ID"}),
)
def revoke_account(call: Call) -> Response:
    """Take the access back at the provider; 409 where the provider has no way to do it."""
    return _answer(call, health.revoke(call.service, load(call)))


@operations.get(f"{ONE}/uses", answer=Page[models.AccountUse], query=Paged, limit="accounts")
def list_account_uses(call: Call) -> Response:
    """What stops without this account: the triggers deployed with it."""
    account = load(call)
    return answer_page(trigger_accounts.uses(call.store, account, call.query(Paged).window), _use_to_json)


@operations.get(f"{ONE}/siblings", answer=Data[list[models.ExtendedAccount]], limit="accounts")
def list_account_siblings(call: Call) -> Response:
    """The user's other accounts that end when this one is revoked at its provider."""
    others = health.of(call.service, load(call))
    return answer({"data": [accounts.to_json(call.service, other, extensions=True) for other in others]})


@operations.get(
    f"{ONE}/history",
    answer=Page[models.ActivityEntry],
    query=Paged,
    limit="accounts",
    example=Example(query={"limit": "10"}),
)
def list_account_history(call: Call) -> Response:
    """What happened to an account, newest first."""
    account = load(call)
    return answer_page(activity.of_account(call.store, account.id, call.query(Paged).window), ActivityEntry.to_json)


def _use_to_json(trigger: DeployedTrigger) -> dict[str, Any]:
    return {"id": trigger.id, "kind": "trigger", "name": trigger.name, "app": trigger.app, "active": trigger.active}


def _answer(call: Call, account: Account) -> Response:
    return answer(accounts.to_json(call.service, account, extensions=True))
