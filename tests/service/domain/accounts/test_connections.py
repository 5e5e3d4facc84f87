"""From a grant or keys to an account: nothing is stored before the provider accepted it, and nobody takes another's."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import HOUR
from webapp.kit.crypto import CannotOpen
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import (
    account_state,
    accounts,
    connections,
    credentials,
    health,
    oauth_apps,
)
from webapp.service.domain.accounts.accounts import Filter
from webapp.service.domain.base.failures import CredentialsRefused, ProviderDown, ScopesMissing, WrongAccount
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.projects import Project


def listed(bench: Any, **wanted: str) -> tuple[int, int]:
    page = accounts.page(bench.service.store, bench.scene, Filter(**wanted), cursors.Window(limit=100))
    return len(page.items), page.total_count


def told(bench: Any, account_id: str) -> list[str]:
    return [entry.sentence for entry in activity.of_account(bench.service.store, account_id, cursors.Window()).items]


def test_a_grant_becomes_an_account(bench: Any) -> None:
    account = bench.connect()
    assert (account.identity_id, account.identity_name) == ("u1", "Ada")
    assert account.authorized_scopes == ("read", "write")
    assert (account.healthy, account.dead, account.error) == (True, False, None)
    assert account.expires_at == bench.clock() + HOUR
    values = credentials.read(bench.service, account)
    assert values == {"oauth_access_token": "a0", "oauth_refresh_token": "r0", "oauth_uid": "u1"}
    assert told(bench, account.id) == ["Connected as Ada."]


def test_counts_are_exact_under_every_filter(bench: Any) -> None:
    first = bench.connect()
    bench.connect(token=bench.token("bob"))
    client = str(first.oauth_app_id)
    assert listed(bench) == (2, 2)
    assert listed(bench, external_id="alice") == (1, 1)
    assert listed(bench, external_id="alice", app="acme", oauth_app_id=client) == (1, 1)
    assert listed(bench, app="acme") == (2, 2)
    assert listed(bench, app="github") == (0, 0)
    assert listed(bench, external_id="nobody") == (0, 0)
    removal.delete(bench.service, first)
    removal.delete(bench.service, first)
    assert listed(bench) == (1, 1)
    assert listed(bench, external_id="alice") == (0, 0)
    assert told(bench, first.id)[0] == "Disconnected."
    assert removal.delete_of_app(bench.service, bench.scene, "acme", user=None) == 1
    assert listed(bench) == (0, 0)


def test_reconnecting_keeps_the_id_and_heals(bench: Any) -> None:
    account = bench.connect()
    bench.acme.dead = True
    bench.clock.advance(HOUR)
    assert health.check(bench.service, account).dead
    bench.acme.dead = False
    again = bench.connect(account_id=account.id, access_token="b0", refresh_token="r0")
    assert (again.id, again.dead, again.healthy, again.error) == (account.id, False, True, None)
    assert again.revision == account.revision + 1
    assert again.created_at == account.created_at
    assert credentials.read(bench.service, again)["oauth_access_token"] == "b0"
    assert listed(bench) == (1, 1)
    assert told(bench, account.id)[0] == "Reconnected as Ada."


def test_an_account_that_had_no_name_gets_one_when_it_is_reconnected(bench: Any) -> None:
    account = bench.connect()
    with bench.service.store.write() as tx:
        tx.run("UPDATE accounts SET name = NULL")
    assert bench.connect(account_id=account.id).name == "Ada"


def test_reconnecting_as_somebody_else_is_refused_and_names_both(bench: Any) -> None:
    account = bench.connect()
    bench.acme.identity = {"id": "u2", "name": "Grace"}
    with pytest.raises(WrongAccount, match=r"belongs to Ada.*signed in as Grace"):
        bench.connect(account_id=account.id)
    assert accounts.get(bench.service.store, bench.scene, account.id) == account


@pytest.mark.parametrize("other", ["bob", "production"])
def test_another_users_account_cannot_be_reconnected(bench: Any, other: str) -> None:
    account = bench.connect(token=bench.token("alice"))
    with pytest.raises(NotFound):
        bench.connect(token=bench.token("bob"), account_id=account.id)
    with pytest.raises(NotFound):
        bench.connect(account_id="apn_" + other)


def test_missing_scopes_are_named_in_words(bench: Any) -> None:
    with pytest.raises(ScopesMissing, match="change your things"):
        bench.connect(scopes=("read",))
    assert listed(bench) == (0, 0)
    partly = bench.connect(token=bench.token(allow_progressive_scopes=True), scopes=("read",))
    assert partly.authorized_scopes == ("read",)
    with pytest.raises(ScopesMissing, match="see your things"):
        bench.connect(token=bench.token(allow_progressive_scopes=True), scopes=("write",))


@pytest.mark.parametrize(
    ("status", "error"), [(401, CredentialsRefused), (403, CredentialsRefused), (500, ProviderDown)]
)
def test_nothing_is_stored_when_the_provider_does_not_accept(bench: Any, status: int, error: type[Exception]) -> None:
    bench.acme.me_status = status
    with pytest.raises(error):
        bench.connect()
    assert listed(bench) == (0, 0)


def test_health_tells_passing_trouble_from_a_refusal(bench: Any) -> None:
    account = bench.connect()
    bench.acme.me_status = 503
    down = health.check(bench.service, account)
    assert (down.healthy, down.dead) == (False, False)
    assert down.error
    assert bench.acme.token_calls == 0  # its token is not to blame, so none is asked for
    assert down.next_check_at == bench.clock() + 30_000
    bench.acme.me_status = 200
    up = health.check(bench.service, down)
    assert (up.healthy, up.error, up.failures) == (True, None, 0)
    assert told(bench, account.id)[:2] == ["Working again.", down.error]


def test_a_refused_token_is_refreshed_once_before_the_account_is_given_up(bench: Any) -> None:
    account = bench.connect()
    bench.acme.me_status = 401
    dead = health.check(bench.service, account)
    assert (dead.dead, bench.acme.token_calls) == (True, 1)
    calls = bench.acme.me_calls
    assert health.check(bench.service, dead) == dead
    assert bench.acme.me_calls == calls


def test_revoking_tells_the_provider_and_needs_the_person(bench: Any) -> None:
    account = bench.connect()
    after = health.revoke(bench.service, account)
    assert bench.acme.revoked == ["r0"]
    assert (after.dead, after.healthy) == (True, False)
    with pytest.raises(Conflict):
        health.revoke(bench.service, after)


def test_a_slow_check_does_not_overwrite_a_newer_reconnect(bench: Any) -> None:
    old = bench.connect()
    new = bench.connect(account_id=old.id)
    assert account_state.mark_dead(bench.service, old, "The old token was refused.") == new


def test_renaming(bench: Any) -> None:
    account = bench.connect()
    assert account_state.rename(bench.service, account, "  Büro  ").name == "Büro"
    assert account_state.rename(bench.service, account, " ").name == "Ada"
    for bad in ("x" * 201, "a\nb", "a\x00"):
        with pytest.raises(Invalid):
            account_state.rename(bench.service, account, bad)


def test_credentials_are_handed_out_for_the_developers_own_client_only(bench: Any) -> None:
    account = bench.connect()
    found = credentials.for_developer(bench.service, account)
    assert found is not None
    assert (found["oauth_client_id"], found["oauth_access_token"]) == ("c", "a0")
    shared = oauth_apps.add(bench.service, app="acme", client_id="all", client_secret="s")
    shared_account = connections.connect_with_grant(
        bench.service, bench.token(), bench.app, shared, bench.result(),
        requested=("read", "write"), profile=None, fields={}, account_id=None,
    )  # fmt: skip
    assert credentials.for_developer(bench.service, shared_account) is None


def test_credentials_do_not_open_in_another_row_or_stand_in_the_file(bench: Any, data: Path) -> None:
    secret = "canary-6f2d"
    account = bench.connect(access_token=secret)
    other = bench.connect()
    with pytest.raises(CannotOpen):
        credentials.read(bench.service, other._replace(credentials_sealed=account.credentials_sealed))
    bench.service.store.checkpoint()
    for file in data.glob("patchbay.db*"):
        assert secret.encode() not in file.read_bytes()


def test_a_token_names_its_user_once(bench: Any) -> None:
    first, second = bench.token("alice"), bench.token("alice")
    assert first.user == second.user
    assert isinstance(first, connect_tokens.ConnectToken)


def keys(**values: str) -> Mapping[str, str]:
    return values


def test_an_oauth_app_is_not_connected_by_keys(bench: Any) -> None:
    with pytest.raises(Invalid, match="not connected by keys"):
        connections.connect_with_keys(bench.service, bench.token(), bench.app, keys(api_key="x"))


def test_a_working_account_is_looked_after_again_within_six_hours(bench: Any) -> None:
    account = bench.connect()
    assert account_state.claim_checks(bench.service, 10) == []
    bench.clock.advance(6 * HOUR)
    (claimed,) = account_state.claim_checks(bench.service, 10)
    assert claimed.id == account.id
    assert account_state.claim_checks(bench.service, 10) == []  # nobody else takes it meanwhile
    checked = health.check(bench.service, claimed)
    assert checked.last_checked_at == bench.clock()
    assert 4.8 * HOUR < (checked.next_check_at or 0) - bench.clock() <= 6 * HOUR


def test_a_provider_that_is_down_for_six_hours_is_asked_a_bounded_number_of_times(bench: Any) -> None:
    account = bench.connect(expires_in=None, refresh_token=None)
    bench.acme.me_status = 503
    bench.clock.advance(6 * HOUR)
    before = bench.acme.me_calls
    for _ in range(6 * 60):
        bench.clock.advance(60_000)
        for due in account_state.claim_checks(bench.service, 10):
            health.check(bench.service, due)
    assert 6 <= bench.acme.me_calls - before <= 15
    down = accounts.get(bench.service.store, bench.scene, account.id)
    assert (down.healthy, down.dead) == (False, False)
    bench.acme.me_status = 200
    bench.clock.advance(HOUR)
    (due,) = account_state.claim_checks(bench.service, 10)
    assert health.check(bench.service, due).healthy


def test_why_an_app_cannot_be_connected(service: Service, project: Project) -> None:
    keys, oauth = service.app("tinykeys"), service.app("tinyoauth")
    assert connections.unavailable_reason(service, keys, project.id) is None
    assert "has no OAuth client yet" in str(connections.unavailable_reason(service, oauth, project.id))
    oauth_apps.add(service, app="tinyoauth", client_id="c", client_secret="s", project_id=project.id)
    assert connections.unavailable_reason(service, oauth, project.id) is None
    assert connections.unavailable_reason(service, oauth, "proj_other") is not None
    bare = replace(keys, auth_type="none")
    assert connections.unavailable_reason(service, bare, project.id) == "Tiny Keys needs no account."
