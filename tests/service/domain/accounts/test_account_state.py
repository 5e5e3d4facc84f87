"""The states of an account: each change fenced by the revision it was read at, and told in the history."""

from collections.abc import Callable

import pytest

from webapp.errors import NotFound
from webapp.kit.clock import FakeClock
from webapp.service.domain.accounts import account_state, accounts, retry_times
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service

Plant = Callable[..., Account]


def test_failures_back_off_and_success_recovers(service: Service, plant: Plant, clock: FakeClock) -> None:
    account = plant()
    first = account_state.mark_retrying(service, account, "It is down.")
    second = account_state.mark_retrying(service, first, "It is down.")
    assert (second.healthy, second.dead, second.failures, second.error) == (False, False, 2, "It is down.")
    assert second.next_check_at == clock.at + retry_times.BACK_OFF[1]
    working = account_state.mark_working(service, second)
    assert (working.healthy, working.failures, working.error) == (True, 0, None)


def test_a_dead_account_is_retried_no_more(service: Service, plant: Plant) -> None:
    dead = account_state.mark_dead(service, plant(), "The grant was revoked.")
    assert (dead.healthy, dead.dead, dead.next_check_at, dead.next_refresh_at) == (False, True, None, None)
    assert account_state.mark_retrying(service, dead, "Late.") == dead
    assert account_state.claim_refresh(service, dead) is None


def test_what_was_read_before_a_refresh_changes_nothing_after_it(service: Service, plant: Plant) -> None:
    account = plant()
    renewed = account_state.save_refresh(service, account, {"api_key": "new"}, None)
    assert renewed.revision == account.revision + 1
    assert account_state.mark_dead(service, account, "Late.") == renewed
    assert account_state.mark_retrying(service, account, "Late.") == renewed
    with service.store.write() as tx:
        account_state.remove(tx, [renewed], 1)
    with pytest.raises(NotFound, match="disconnected meanwhile"):
        account_state.mark_working(service, account)


def test_a_check_is_claimed_once(service: Service, plant: Plant, clock: FakeClock) -> None:
    due = plant(next_check_at=clock.at)
    plant(next_check_at=clock.at + 1)
    assert [account.id for account in account_state.claim_checks(service, 9)] == [due.id]
    assert account_state.claim_checks(service, 9) == []
    assert accounts.get(service.store, due.scene, due.id).next_check_at == clock.at + leases.CHECK
