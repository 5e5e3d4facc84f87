"""Testing an account now: what its provider says becomes its state; a dead one stays dead.

Accounts that end together: those of one user, at one identity, by one client at the provider.
"""

from collections.abc import Callable
from typing import Any

import pytest

from webapp.errors import Conflict
from webapp.kit.clock import FakeClock
from webapp.service.domain.accounts import account_state, health, oauth_apps
from webapp.service.domain.accounts import provider as provider_verbs
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Project

Plant = Callable[..., Account]


def test_a_good_key_works_and_a_bad_one_needs_its_person(service: Service, plant: Plant, clock: FakeClock) -> None:
    good = health.check(service, plant(healthy=False, error="It was down."))
    assert good.healthy and good.error is None and good.last_checked_at == clock.at
    bad = health.check(service, plant(values={"api_key": "wrong"}))
    assert bad.dead and bad.error


def test_a_dead_account_is_not_asked_about(service: Service, plant: Plant, provider: Any) -> None:
    dead = account_state.mark_dead(service, plant(), "The key was revoked.")
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
    assert account_state.earliest_check_at(service) is None
    plant(next_check_at=70)
    plant(next_check_at=50)
    assert account_state.earliest_check_at(service) == 50


@pytest.fixture
def gmail(service: Service, project: Project) -> OAuthApp:
    return oauth_apps.add(service, app="gmail", client_id="c", client_secret="s", project_id=project.id)


def test_what_ends_with_an_account_of_google(service: Service, plant: Plant, gmail: OAuthApp) -> None:
    drive = oauth_apps.share(service, gmail, "google_drive")
    other = oauth_apps.add(service, app="gmail", client_id="o", client_secret="s", project_id=gmail.project_id)
    mail = plant(app="gmail", oauth_app_id=gmail.id)
    files = plant(app="google_drive", oauth_app_id=drive.id)
    plant(app="google_drive", oauth_app_id=drive.id, identity_id="u-2")
    plant(app="gmail", oauth_app_id=other.id)
    plant("bob", app="google_drive", oauth_app_id=drive.id)
    dead = plant(app="google_drive", oauth_app_id=drive.id)
    account_state.mark_dead(service, dead, "Gone.")
    assert [account.id for account in health.also_revoked(service, mail)] == [files.id]
    assert [account.id for account in health.also_revoked(service, files)] == [mail.id]


def test_elsewhere_a_sign_in_ends_alone(service: Service, plant: Plant, gmail: OAuthApp) -> None:
    client = oauth_apps.add(service, app="github", client_id="c", client_secret="s", project_id=gmail.project_id)
    accounts = [plant(app="github", oauth_app_id=client.id) for _ in range(2)]
    assert health.also_revoked(service, accounts[0]) == []
    nobody = [plant(app="gmail", oauth_app_id=gmail.id, identity_id=None) for _ in range(2)]
    assert health.also_revoked(service, nobody[0]) == []
    gone = [plant(app="gmail", oauth_app_id="oa_gone") for _ in range(2)]
    assert health.also_revoked(service, gone[0]) == []


def test_they_are_looked_after_at_once(service: Service, plant: Plant, gmail: OAuthApp) -> None:
    later = service.clock() + 60_000
    account, dead = plant(next_check_at=later), plant(next_check_at=None, dead=True)
    with service.store.write() as tx:
        account_state.check_soon(tx, service.clock(), [account, dead])
    rows = service.store.all("SELECT id, next_check_at AS at FROM accounts")
    assert {row["id"]: row["at"] for row in rows} == {account.id: service.clock(), dead.id: None}
