"""Changing a trigger: checked whole, subscribed anew where it must be, and what stood before brought back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.triggers import called_hooks, deploy, poll_due, row, summaries
from webapp.errors import Conflict, Invalid, NotFound, Unavailable
from webapp.kit import cursors
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock
from webapp.service.catalog.index import Catalog
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import accounts, changing, deployed_triggers, lifecycle
from webapp.service.domain.triggers.changing import Change
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

Plant = Callable[..., Account]


def given(account: Account, **values: Any) -> dict[str, Any]:
    return {"account": {"authProvisionId": account.id}, **values}


def change(service: Service, trigger: DeployedTrigger, **what: Any) -> DeployedTrigger:
    return changing.update(service, trigger, Change(**what))


def kinds(service: Service, scene: Scene) -> list[str]:
    found = activity.of_scene(service.store, scene, cursors.Window(50), activity.Filter())
    return [one.kind for one in reversed(found.items) if one.trigger_id]


def test_pause_and_resume_keep_the_schedule_honest(
    service: Service, scene: Scene, plant: Plant, provider: Any, clock: FakeClock
) -> None:
    trigger = deploy(service, scene, given=given(plant(), timer={"intervalSeconds": 900}))
    poll_due(service)
    start = clock.at
    clock.advance(100 * SECOND)
    paused = change(service, trigger, active=False)
    assert (paused.active, paused.next_run_at, paused.switched_off) == (False, None, None)
    clock.advance(HOUR)
    assert poll_due(service) == []
    resumed = change(service, trigger, active=True)
    assert resumed.next_run_at == start + 5 * 900 * SECOND  # the tick that would have come anyway
    assert change(service, trigger, active=True).next_run_at == resumed.next_run_at
    assert called_hooks(provider.calls) == ["deploy=", "subscribe=", "leave=", "subscribe="]
    assert kinds(service, scene) == ["trigger_deployed", "trigger_paused", "trigger_resumed"]


def test_a_name_or_a_switch_needs_no_hook_and_shifts_no_tick(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    deploy(service, scene, name="Mine")
    trigger = deploy(service, scene, given=given(plant()))
    changed = change(service, trigger, name=" Mine ", emit_on_deploy=False)
    assert (changed.name, changed.name_slug, changed.emit_on_deploy) == ("Mine", "mine-2", False)
    assert changed.next_run_at == trigger.next_run_at
    assert change(service, trigger, name="Mine").name_slug == "mine-2"
    labelled = {"ids": {"__lv": {"label": "None", "value": []}}}
    change(service, trigger, configured=labelled)
    change(service, trigger, configured={"ids": []})
    assert (
        len(called_hooks(provider.calls)) == 4
    )  # deploy, subscribe; then ids became an empty list; a label is nothing
    with pytest.raises(Invalid):
        change(service, trigger, name=" ")


def test_values_merge_by_key_and_null_removes(service: Service, scene: Scene, plant: Plant) -> None:
    account = plant()
    trigger = deploy(service, scene, given=given(account, ids=["a"], token="canary-token"))
    change(service, trigger, configured={"ids": ["b"], "unknown": 1})
    assert deployed_triggers.configured(service, trigger) is not None
    stands = deployed_triggers.get(service.store, scene, trigger.id)
    assert deployed_triggers.configured(service, stands) == given(account, ids=["b"], token="canary-token")
    change(service, trigger, configured={"ids": None, "account": None})
    stands = deployed_triggers.get(service.store, scene, trigger.id)
    assert deployed_triggers.configured(service, stands) == {"token": "canary-token"}
    assert accounts.of_triggers(service.store, [trigger.id]) == {trigger.id: []}


def test_other_values_subscribe_anew_while_it_is_on(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    provider.calls.clear()
    change(service, trigger, configured={"ids": ["b"]})
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=b"]
    change(service, trigger, active=False)
    provider.calls.clear()
    change(service, trigger, configured={"ids": ["c"]})
    assert called_hooks(provider.calls) == []
    change(service, trigger, active=True, configured={"ids": ["d"]})
    assert called_hooks(provider.calls) == ["subscribe=d"]


def test_another_schedule_counts_from_now(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene, "schedule-cron", given={"cron": {"intervalSeconds": 60}})
    clock.advance(10 * SECOND)
    changed = change(service, trigger, configured={"cron": {"intervalSeconds": 3600}})
    assert (changed.schedule_changed_at, changed.next_run_at) == (clock.at, clock.at + HOUR)
    clock.advance(MINUTE)
    assert change(service, trigger, configured={"cron": {"intervalSeconds": 3600}}).next_run_at == changed.next_run_at


@pytest.mark.parametrize("wrong", [{"ids": 5}, {"timer": {"intervalSeconds": 1}}, {"ids": ["b"], "token": 7}])
def test_what_is_not_valid_changes_nothing(
    service: Service, scene: Scene, plant: Plant, provider: Any, wrong: dict[str, Any]
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    provider.calls.clear()
    with pytest.raises(Invalid):
        change(service, trigger, configured=wrong, name="Other", active=False)
    stands = deployed_triggers.get(service.store, scene, trigger.id)
    assert (stands.name, stands.active, stands.updated_at) == ("Poll", True, trigger.updated_at)
    assert provider.calls == [] and row(service, trigger)["busy_until"] == 0
    with pytest.raises(NotFound):
        change(service, trigger, configured=given(plant("bob")))


def with_newer(service: Service, monkeypatch: pytest.MonkeyPatch, **props: Any) -> None:
    """Let the catalog have ``~/poll`` in version 1.1.0, too, with these props besides."""
    component = service.catalog.component("~/poll", "1.0.0")
    assert component is not None
    facts = orjson.loads(component.json)
    facts["configurable_props"] = [prop for prop in facts["configurable_props"] if prop["name"] != "token"]
    facts["configurable_props"] += [{"name": name, "label": name, **each} for name, each in props.items()]
    newer = replace(component, id="sc_newer", version="1.1.0", json=orjson.dumps(facts))
    versions = {"1.0.0": component, "1.1.0": newer, None: newer}
    monkeypatch.setattr(Catalog, "component", lambda _, key, version=None: versions.get(version))


def test_a_trigger_is_moved_to_another_version_with_all_that_it_has(
    service: Service, scene: Scene, plant: Plant, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"], token="secret"))
    provider.calls.clear()
    with_newer(service, monkeypatch)
    moved = change(service, trigger, version="1.1.0")
    assert (moved.component_version, moved.component_id, moved.active) == ("1.1.0", "sc_newer", True)
    assert (moved.id, moved.schedule, moved.next_run_at) == (trigger.id, trigger.schedule, trigger.next_run_at)
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=a"]
    assert "token" not in deployed_triggers.configured(service, moved), "the newer one does not ask for it"
    assert kinds(service, scene) == ["trigger_deployed", "trigger_changed"]
    assert change(service, moved, version="1.1.0").updated_at == moved.updated_at
    with pytest.raises(Invalid, match=r"no version 9\.9\.9 of ~/poll"):
        change(service, moved, version="9.9.9")


def test_what_the_newer_version_asks_for_besides_is_said_and_nothing_changes(
    service: Service, scene: Scene, plant: Plant, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    provider.calls.clear()
    with_newer(service, monkeypatch, place={"type": "string"})
    with pytest.raises(Invalid, match="place"):
        change(service, trigger, version="1.1.0")
    assert called_hooks(provider.calls) == []
    moved = change(service, trigger, version="1.1.0", configured={"place": "here"})
    assert deployed_triggers.configured(service, moved)["place"] == "here"


def test_a_trigger_whose_version_was_removed_is_moved_without_leaving(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET component_version = '0.9.0'")
    provider.calls.clear()
    moved = change(service, trigger, version="1.0.0")
    assert (moved.component_version, called_hooks(provider.calls)) == ("1.0.0", ["subscribe=a"])


def test_an_activation_that_fails_brings_back_what_stood(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    provider.calls.clear()
    with pytest.raises(Invalid, match="refused to subscribe"):
        change(service, trigger, configured={"ids": ["b"], "fail": "subscribe"})
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=b", "leave=b", "subscribe=a"]
    stands = deployed_triggers.get(service.store, scene, trigger.id)
    assert stands.active and deployed_triggers.configured(service, stands)["ids"] == ["a"]
    assert [one.ok for one in poll_due(service)] == [True]


def test_what_cannot_be_brought_back_is_switched_off_with_the_reason(
    service: Service, scene: Scene, plant: Plant, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service.store.write() as tx:
        endpoints.add(tx, service, "general", "https://hooks.example/g", scene=None)
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    provider.calls.clear()

    def full(*_: Any) -> None:
        provider.down = True
        raise Unavailable

    monkeypatch.setattr(changing, "_write", full)
    with pytest.raises(Unavailable):
        change(service, trigger, configured={"ids": ["b"]})
    stands = deployed_triggers.get(service.store, scene, trigger.id)
    assert not stands.active and stands.next_run_at is None
    assert (stands.switched_off or "").startswith("A change failed, and what stood before could not be brought back.")
    assert kinds(service, scene)[-1] == "trigger_switched_off"
    found = service.store.all("SELECT kind FROM events WHERE trigger_id IS NULL")
    assert found == [{"kind": "TRIGGER_DEACTIVATED"}]


def test_pausing_says_so_when_the_app_refuses(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, given={"fail": "leave"})
    with pytest.raises(Invalid, match="refused to leave"):
        change(service, trigger, active=False)
    assert deployed_triggers.get(service.store, scene, trigger.id).active


def test_a_dead_account_keeps_nobody_from_pausing_or_choosing_another(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    first, second = plant(), plant()
    trigger = deploy(service, scene, given=given(first, ids=["a"]))
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 1, error = 'Refused.' WHERE id = :id", {"id": first.id})
    provider.calls.clear()
    change(service, trigger, configured=given(second))
    assert called_hooks(provider.calls) == ["subscribe=a"]
    assert accounts.waiting(service.store, [trigger.id]) == set()
    assert poll_due(service)[0].ok


def test_deleting_an_account_says_goodbye_and_switches_off(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    account, other = plant(name="Work"), plant("bob")
    mine = [deploy(service, scene, given=given(account, ids=[one])) for one in ("a", "b")]
    paused = change(service, deploy(service, scene, given=given(account)), active=False)
    theirs = deploy(service, scene, user="bob", given=given(other))
    provider.calls.clear()
    provider.down = True
    removing.delete(service, account)
    for trigger in mine:
        stands = deployed_triggers.get(service.store, scene, trigger.id)
        assert not stands.active
        assert stands.switched_off == "Its Tiny Keys account Work was disconnected; choose another account."
    assert deployed_triggers.get(service.store, scene, paused.id).switched_off is None
    assert deployed_triggers.get(service.store, scene, theirs.id).active
    assert called_hooks(provider.calls)[0] in ("leave=a", "leave=b")
    provider.down = False
    with pytest.raises(Invalid, match="account is gone"):
        change(service, mine[0], active=True)
    again = change(service, mine[0], active=True, configured=given(plant()))
    assert (again.active, again.switched_off) == (True, None)
    assert removing.delete_of_app(service, scene, "tinykeys", user=None) == 2
    assert not deployed_triggers.get(service.store, scene, theirs.id).active


def test_a_change_meets_another(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with lifecycle.locked(service, trigger), pytest.raises(Conflict, match="being changed"):
        change(service, trigger, name="Other")
    assert summaries(service, trigger) == ["Was there before"]


def test_one_that_is_switched_off_during_a_change_is_free_after_it(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with lifecycle.locked(service, trigger), service.store.write() as tx:
        lifecycle.switch_off(tx, service, trigger, "Its account is gone.")
    assert row(service, trigger)["busy_until"] == 0
    assert change(service, trigger, name="Other").name == "Other"
