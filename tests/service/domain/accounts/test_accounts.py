"""Accounts: found through their owner, paged with exact counts, named and removed."""

from collections.abc import Callable

import orjson
import pytest

from webapp.errors import Invalid, NotFound
from webapp.kit.clock import FakeClock
from webapp.kit.cursors import BadCursor, Window
from webapp.service.domain.accounts import account_state, accounts, credentials
from webapp.service.domain.accounts.accounts import Account, Filter
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import activity, external_users
from webapp.service.domain.projects.projects import Scene

Plant = Callable[..., Account]


def ids(service: Service, scene: Scene, wanted: Filter | None = None, **window: object) -> tuple[list[str], int]:
    page = accounts.page(service.store, scene, wanted or Filter(), Window(**window))  # type: ignore[arg-type]
    return [account.id for account in page.items], page.total_count


def test_an_account_is_found_through_its_owner(service: Service, scene: Scene, plant: Plant) -> None:
    mine, bobs = plant("alice"), plant("bob")
    alice = external_users.find(service.store, scene, "alice")
    assert accounts.get(service.store, scene, mine.id, user=alice) == mine
    for where, account_id in (
        (scene, bobs.id),
        (scene, "apn_none"),
        (Scene(scene.project_id, "production"), mine.id),
        (Scene("proj_other", "development"), mine.id),
    ):
        with pytest.raises(NotFound, match=r"^There is no such account\.$"):
            accounts.get(service.store, where, account_id, user=alice)


def test_filters_and_their_exact_counts(service: Service, scene: Scene, plant: Plant) -> None:
    one = plant("alice").id
    two = plant("alice", "tinyoauth", oauth_app_id="oa_1").id
    three = plant("bob", "tinyoauth", oauth_app_id="oa_1").id
    assert ids(service, scene)[1] == 3
    assert set(ids(service, scene, Filter("alice"))[0]) == {one, two}
    assert ids(service, scene, Filter("alice", "tinyoauth")) == ([two], 1)
    assert ids(service, scene, Filter(None, "tinyoauth"))[1] == 2
    assert set(ids(service, scene, Filter(oauth_app_id="oa_1"))[0]) == {two, three}
    assert ids(service, scene, Filter("bob", "tinyoauth", "oa_1")) == ([three], 1)
    assert ids(service, scene, Filter("carol")) == ([], 0)
    assert ids(service, scene, Filter(app="nothing")) == ([], 0)
    assert ids(service, Scene(scene.project_id, "production")) == ([], 0)


def test_pages_stay_put_while_accounts_come_and_go(
    service: Service, scene: Scene, plant: Plant, clock: FakeClock
) -> None:
    planted = []
    for _ in range(7):
        clock.advance(1)
        planted.append(plant().id)
    first = accounts.page(service.store, scene, Filter(), Window(3))
    assert [account.id for account in first.items] == planted[:3]
    removal.delete(service, first.items[2])  # the row that the cursor points at
    clock.advance(1)
    late = plant().id
    second = accounts.page(service.store, scene, Filter(), Window(3, after=first.end_cursor))
    assert [account.id for account in second.items] == planted[3:6]
    third = accounts.page(service.store, scene, Filter(), Window(3, after=second.end_cursor))
    assert [account.id for account in third.items] == [planted[6], late]
    assert third.end_cursor == "" and third.total_count == 7


def test_before_gives_the_last_ones_in_the_same_order(
    service: Service, scene: Scene, plant: Plant, clock: FakeClock
) -> None:
    planted = []
    for _ in range(6):
        clock.advance(1)
        planted.append(plant().id)
    starts = [
        accounts.page(service.store, scene, Filter(), Window(1, after=None)).start_cursor,
    ]
    for _ in range(5):
        starts.append(accounts.page(service.store, scene, Filter(), Window(1, after=starts[-1])).start_cursor)
    assert ids(service, scene, limit=2, before=starts[4])[0] == planted[2:4]
    assert ids(service, scene, limit=10, after=starts[1], before=starts[4])[0] == planted[2:4]


def test_cursors_of_other_filters_are_refused(service: Service, scene: Scene, plant: Plant) -> None:
    plant(), plant()
    cursor = accounts.page(service.store, scene, Filter(), Window(1)).end_cursor
    for wanted in (Filter("alice"), Filter(app="tinykeys")):
        with pytest.raises(BadCursor):
            accounts.page(service.store, scene, wanted, Window(1, after=cursor))


def test_renaming(service: Service, plant: Plant, clock: FakeClock) -> None:
    account = plant()
    clock.advance(5)
    renamed = account_state.rename(service, account, "  Work  ")
    assert renamed.name == "Work" and renamed.updated_at == clock()
    assert account_state.rename(service, renamed, "   ").name == "Ada"  # whose it is
    assert account_state.rename(service, plant(identity_id=None, identity_name=None), None).name is None
    for bad in ("x" * 201, "a\nb", "a\0"):
        with pytest.raises(Invalid):
            account_state.rename(service, account, bad)


def test_removing_keeps_the_history_and_the_counts(service: Service, scene: Scene, plant: Plant) -> None:
    account, other = plant("alice"), plant("bob")
    removal.delete(service, account)
    removal.delete(service, account)  # twice removes and counts once
    assert ids(service, scene) == ([other.id], 1)
    assert ids(service, scene, Filter("alice")) == ([], 0)
    entries = activity.of_account(service.store, account.id, Window()).items
    assert [entry.kind for entry in entries] == ["disconnected"]


def test_removing_by_app(service: Service, scene: Scene, plant: Plant) -> None:
    plant("alice"), plant("alice"), plant("bob")
    kept = plant("alice", "tinyoauth")
    alice = external_users.find(service.store, scene, "alice")
    assert removal.delete_of_app(service, scene, "tinykeys", user=alice) == 2
    assert removal.delete_of_app(service, scene, "tinykeys", user=None) == 1
    assert ids(service, scene) == ([kept.id], 1)


def test_of_user(service: Service, scene: Scene, plant: Plant) -> None:
    mine = [plant("alice").id, plant("alice").id]
    plant("bob")
    alice = external_users.find(service.store, scene, "alice")
    assert alice is not None
    assert sorted(account.id for account in accounts.of_user(service.store, alice)) == sorted(mine)


def test_a_list_holds_no_credentials_unless_it_is_asked_for_them(service: Service, scene: Scene, plant: Plant) -> None:
    account = plant()
    (bare,) = accounts.page(service.store, scene, Filter(), Window()).items
    assert bare.credentials_sealed is None
    with pytest.raises(LookupError, match="without its credentials"):
        credentials.read(service, bare)
    (whole,) = accounts.page(service.store, scene, Filter(), Window(), with_credentials=True).items
    assert whole == account == accounts.get(service.store, scene, account.id)
    assert "api_key" in credentials.read(service, whole)


def test_what_a_list_shows_is_what_an_account_shows(service: Service, scene: Scene, plant: Plant) -> None:
    account = plant("alice", "tinyoauth")
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET authorized_scopes = '[\"read\"]', expires_at = 1, last_refreshed_at = 2")
    account = accounts.get(service.store, scene, account.id)
    for changed in ("healthy = 0, error = 'No.'", "dead = 1", "app = 'removed_app'"):
        (listed,) = accounts.listed_page(service.store, scene, Filter(), Window()).items
        assert listed == account.as_listed
        facts = orjson.loads(orjson.dumps(accounts.listed_to_json(service, listed)))
        assert facts == orjson.loads(orjson.dumps(accounts.to_json(service, account)))
        assert facts["authorized_scopes"] == ["read"] and facts["expires_at"] == "1970-01-01T00:00:00.001Z"
        assert (facts["healthy"], facts["dead"]) == (account.healthy, account.dead)
        with service.store.write() as tx:
            tx.run(f"UPDATE accounts SET {changed}")
        account = accounts.get(service.store, scene, account.id)
    (listed,) = accounts.listed_page(service.store, scene, Filter(), Window()).items
    facts = accounts.listed_to_json(service, listed)
    assert facts["healthy"] is False and "was removed from this service" in facts["error"]
