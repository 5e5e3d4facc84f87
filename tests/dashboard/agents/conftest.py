"""An owner with an account at the sandbox, and an agent with calls that wait."""

from collections.abc import Callable

import pytest

from tests.dashboard.embedded import Embedded
from tests.fakes.user_data import plant_account
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.agents.approvals import Approval


@pytest.fixture(scope="module")
def account(studio: Embedded) -> Account:
    """The owner's account."""
    owner = studio.people["owner"].id
    return plant_account(studio.service, studio.scene, owner, "sandbox", {"oauth_access_token": "canary-access-token"})


@pytest.fixture
def ask(studio: Embedded, account: Account) -> Callable[..., Approval]:
    """Lets an agent ask the owner for a call."""

    def plant(action: str = "sandbox-delete-task", **values: object) -> Approval:
        agent = plant_agent(studio.service, studio.scene, studio.people["owner"].id)
        chosen = {"account": {"authProvisionId": account.id}, **values}
        return plant_approval(studio.service, studio.scene, agent, action, **chosen)

    return plant
