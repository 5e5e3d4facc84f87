"""Testing an account now: what its provider says becomes its state; a dead one stays dead."""

from collections.abc import Callable
from typing import Any

import pytest

from webapp.errors import Conflict
from webapp.kit.clock import FakeClock
from webapp.service.domain.accounts import health, lifecycle
from webapp.service.domain.accounts import provider as provider_verbs
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.domain.base.service import Service

Plant = Callable[..., Account]


def test_a_good_key_works_and_a_bad_one_needs_its_person(service: Service, plant: Plant, clock: FakeClock) -> None:
    good = health.check(service, plant(healthy=False, error="It was down."))
    assert good.healthy and good.error is None and good.last_checked_at == clock.at
    bad = health.check(service, plant(values={"api_key": "wrong"}))
    assert bad.dead and bad.error


def test_a_dead_account_is_not_asked_about(service: Service, plant: Plant, provider: Any) -> None:
    dead = lifecycle.mark_dead(service, plant(), "The key was revoked.")
    provider.calls.clear()
    assert health.check(service, dead) == dead
    assert provider.calls == []


def test_an_account_whose_app_was_removed_stays_as_it_is(service: Service, plant: Plant, provider: Any) -> None:
    account = plant(app="departed")
    assert health.check(service, account) == account
    assert provider.calls == []


def test_a_token_that_nothing_but_use_can_test_is_renewed_when_it_is_refused(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_verbs, "test", lambda *_: CheckResult("ok"))
    account = bench.connect()
    assert health.after_refusal(bench.service, account) == account, "its app's own test says that it works"
    monkeypatch.setattr(provider_verbs, "can_test", lambda app: False)
    renewed = health.after_refusal(bench.service, account)
    assert renewed.healthy and renewed.revision != account.revision
    bench.acme.dead = True
    assert health.after_refusal(bench.service, renewed).dead


def test_an_app_without_revocation_says_where_to_revoke(service: Service, plant: Plant) -> None:
    with pytest.raises(Conflict, match="cannot revoke access from here"):
        health.revoke(service, plant())


def test_the_next_check_is_known(service: Service, plant: Plant) -> None:
    assert health.next_due_at(service) is None
    plant(next_check_at=70)
    plant(next_check_at=50)
    assert health.next_due_at(service) == 50
