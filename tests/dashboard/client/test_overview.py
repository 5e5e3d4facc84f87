"""What needs somebody comes first, whatever the order of the service, and no more is read than is said."""

from typing import Any

from tests.dashboard.trigger.fake_triggers import Watchtower
from webapp.dashboard.client import overview
from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.dashboard import KEY


def test_accounts_broken_first(busy: Any) -> None:
    accounts = overview.read_accounts(UserClient(busy.app.extensions[KEY].client, busy.alice.id))
    assert [account.state for account in accounts.accounts] == ["needs-you", "retrying", "working"]
    assert (accounts.total, accounts.complete, len(accounts.needing)) == (3, True, 1)
    assert accounts.badges() == {"stripe": ("Needs you", "bad"), "github": ("2 connected", "ok")}
    assert accounts.apps() == [("github", "GitHub"), ("stripe", "Stripe")]


def test_reading_stops_at_a_limit_and_says_so(stage: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(overview, "READ", 100)
    for _ in range(150):
        stage.connect.add_account(stage.alice.id, "github")
    client = UserClient(stage.app.extensions[KEY].client, stage.alice.id)
    first = overview.read_accounts(client)
    assert (len(first.accounts), first.total, first.complete) == (100, 150, False)
    rest = overview.read_accounts(client, after=first.next_cursor)
    assert (len(rest.accounts), rest.next_cursor) == (50, "")


def test_triggers_that_stand_still_come_first(stage: Any, tower: Watchtower) -> None:
    tower.add(stage.alice.id, "tasks-new-task", name="Runs")
    tower.add(stage.alice.id, "tasks-new-task", name="Paused", active=False)
    tower.add(stage.alice.id, "tasks-new-task", name="Waits", waits="account")
    triggers = overview.read_triggers(UserClient(stage.app.extensions[KEY].client, stage.alice.id))
    assert [trigger.name for trigger in triggers.items] == ["Waits", "Runs", "Paused"]
    assert (triggers.needing, triggers.total, triggers.complete) == (1, 3, True)
