"""Deploying and deleting: whole or not at all, hooks undone where one fails, nothing seen before it stands.

Changing a trigger: checked whole, subscribed anew where it must be, and what stood before brought back.

What a process that died left half-way is brought to its end, or back; or the trigger says why it is off.

A death is played by an exception that undoes nothing: what is written stands, as after ``kill -9``.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.triggers import called_hooks, deploy, poll_due, row, summaries
from tests.service.quotas import with_quotas
from webapp.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable
from webapp.kit import cursors
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock
from webapp.service.catalog.index import Catalog
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.components.runner import LOST
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import (
    calls,
    deployed_triggers,
    deployments,
    inbound_requests,
    lifecycle,
    pending_changes,
    trigger_accounts,
    waiting_triggers,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger, Filter
from webapp.service.domain.triggers.deployments import Change

Plant = Callable[..., Account]
NOON = {"cron": {"cron": "0 12 * * *"}}


def with_account(account: Account, **given: Any) -> dict[str, Any]:
    return {"account": {"authProvisionId": account.id}, **given}


def listed(service: Service, scene: Scene) -> list[str]:
    found = deployed_triggers.page(service.store, scene, Filter(), cursors.Window(50))
    return [one.name_slug for one in found.items]


def told(service: Service, scene: Scene) -> list[str]:
    found = activity.of_scene(service.store, scene, cursors.Window(50), activity.Filter())
    return [one.kind for one in found.items if one.trigger_id]


def test_hooks_run_in_order_and_everything_is_stored(
    service: Service, scene: Scene, plant: Plant, provider: Any
) -> None:
    account = plant()
    trigger = deploy(
        service, scene, given=with_account(account, ids=["x"], fail=None), webhook_url="https://hooks.example/a"
    )
    assert called_hooks(provider.calls) == ["deploy=x", "subscribe=x"]
    assert (trigger.active, trigger.emitter, trigger.app, trigger.next_run_at) == (
        True, "source", "tinykeys", trigger.created_at,
    )  # fmt: skip
    assert trigger.id.startswith("dc_")
    assert deployed_triggers.configured(service, trigger) == with_account(account, ids=["x"])
    assert summaries(service, trigger) == ["Was there before"]
    (webhook,) = trigger_webhooks.of_trigger(service.store, trigger.id)
    assert endpoints.url_of(service, webhook) == "https://hooks.example/a"
    assert trigger_accounts.of_triggers(service.store, [trigger.id])[trigger.id] == [
        {"prop": "account", "id": account.id}
    ]
    assert told(service, scene) == ["trigger_deployed"]


@pytest.mark.parametrize(
    ("fail", "calls", "said"),
    [
        ("deploy", ["deploy="], "The app refused to deploy."),
        ("subscribe", ["deploy=", "subscribe=", "leave="], "The app refused to subscribe."),
        ("subscribe leave", ["deploy=", "subscribe=", "leave="], "The app refused to subscribe."),
    ],
)
def test_a_hook_that_fails_undoes_all(
    service: Service, scene: Scene, plant: Plant, provider: Any, fail: str, calls: list[str], said: str
) -> None:
    with pytest.raises(Invalid) as refused:
        deploy(service, scene, given=with_account(plant(), fail=fail))
    assert refused.value.message == said
    assert called_hooks(provider.calls) == calls
    assert listed(service, scene) == []
    for table in ("deployed_triggers", "trigger_memory", "trigger_runs", "events", "endpoints"):
        assert service.store.one(f"SELECT COUNT(*) AS n FROM {table}") == {"n": 0}


def test_a_commit_that_fails_undoes_the_hooks(
    service: Service, scene: Scene, plant: Plant, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise Unavailable

    monkeypatch.setattr(activity, "write", full)
    with pytest.raises(Unavailable):
        deploy(service, scene, given=with_account(plant()))
    assert called_hooks(provider.calls) == ["deploy=", "subscribe=", "leave="]
    assert listed(service, scene) == []


def test_an_account_that_goes_meanwhile_undoes_the_hooks(
    service: Service, scene: Scene, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, run = plant(), calls.run_hooks

    def slow(*args: Any) -> Any:
        found = run(*args)
        with service.store.write() as tx:
            tx.run("DELETE FROM accounts WHERE id = :id", {"id": account.id})
        return found

    monkeypatch.setattr(calls, "run_hooks", slow)
    with pytest.raises(NotFound):
        deploy(service, scene, given=with_account(account))
    assert listed(service, scene) == []


def test_it_is_found_only_by_its_endpoint_until_it_is_deployed(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def look(_: Any, trigger: Any, *__: Any) -> list[Any]:
        key = deployed_triggers.endpoint_key(service, trigger)
        assert key is not None
        found = deployed_triggers.by_endpoint(service.store, key)
        seen.append((listed(service, scene), found and found.id == trigger.id))
        return []

    monkeypatch.setattr(calls, "run_hooks", look)
    trigger = deploy(service, scene, "~/echo")
    assert seen == [([], True)]
    assert listed(service, scene) == ["echo"]
    assert deployed_triggers.by_endpoint(service.store, "absent") is None
    sealed = row(service, trigger)
    key = deployed_triggers.endpoint_key(service, trigger) or ""
    assert len(key) == 32 and key.encode() not in sealed["endpoint_sealed"] and key != sealed["endpoint_hash"]


def test_what_a_crash_left_half_way_is_undone(
    service: Service, scene: Scene, plant: Plant, provider: Any, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployments, "_undo", lambda *_, **__: None)
    with pytest.raises(Invalid):
        deploy(service, scene, given=with_account(plant(), fail="subscribe"))
    monkeypatch.undo()
    assert deployments._undo_abandoned_deployments(service) == 0
    clock.advance(leases.CHANGE)
    assert deployments._undo_abandoned_deployments(service) == 1
    assert called_hooks(provider.calls)[-1] == "leave="
    assert deployments._undo_abandoned_deployments(service) == 0


def test_without_emit_on_deploy_what_was_there_before_never_comes(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    trigger = deploy(service, scene, given={"ids": ["old", "new"]}, emit_on_deploy=False)
    assert summaries(service, trigger) == []
    poll_due(service)
    assert summaries(service, trigger) == ["Number new"]


def test_slugs_are_unique_for_each_user(service: Service, scene: Scene) -> None:
    names: list[str | None] = [None, None, "Poll!", " Café № 1 ", "日本"]
    for name in names:
        deploy(service, scene, name=name)
    deploy(service, scene, user="bob")
    assert sorted(listed(service, scene)) == ["cafe-no-1", "poll", "poll", "poll-2", "poll-3", "trigger"]
    with pytest.raises(Invalid, match="name"):
        deploy(service, scene, name="x\ny")


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"given": {"ids": "x"}}, "configured_props.ids"),
        ({"given": {"timer": {"intervalSeconds": 5}}}, "configured_props.timer"),
        ({"workflow_id": "p_none"}, "workflow_id"),
    ],
)
def test_what_is_not_valid_changes_nothing(service: Service, scene: Scene, order: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        deploy(service, scene, **order)
    assert refused.value.details[0].field == field
    assert service.store.one("SELECT COUNT(*) AS n FROM deployed_triggers") == {"n": 0}


def test_an_account_of_somebody_else_is_absent(service: Service, scene: Scene, plant: Plant) -> None:
    theirs = plant("bob")
    with pytest.raises(NotFound):
        deploy(service, scene, given=with_account(theirs))


@pytest.mark.parametrize(
    ("key", "prefix", "emitter"),
    [
        ("http-new-requests", "hi_", "http"),
        ("schedule-cron", "ti_", "timer"),
        ("schedule-custom-interval", "ti_", "timer"),
        ("email-new-email", "ei_", "email"),
    ],
)
def test_native_kinds(service: Service, scene: Scene, key: str, prefix: str, emitter: str) -> None:
    trigger = deploy(service, scene, key)
    assert (trigger.id[:3], trigger.emitter) == (prefix, emitter)
    assert (trigger.next_run_at is not None) is (emitter == "timer")
    assert (deployed_triggers.endpoint_key(service, trigger) is not None) is (emitter == "http")
    if trigger.email_local is not None:
        found = deployed_triggers.by_email(service.store, trigger.email_local.upper())
        assert found is not None and found.id == trigger.id
    assert (trigger.email_local is not None) is (emitter == "email")
    assert service.store.one("SELECT COUNT(*) AS n FROM trigger_runs") == {"n": 0}


def test_delete_says_goodbye_and_removes_all(service: Service, scene: Scene, plant: Plant, provider: Any) -> None:
    trigger = deploy(service, scene, given=with_account(plant()))
    deployments.delete(service, trigger)
    assert called_hooks(provider.calls)[-1] == "leave="
    assert listed(service, scene) == []
    assert told(service, scene) == ["trigger_deleted", "trigger_deployed"]
    with pytest.raises(NotFound):
        deployments.delete(service, trigger)


def test_delete_refuses_while_the_app_does_unless_hook_errors_are_ignored(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, given={"fail": "leave"})
    with pytest.raises(Conflict) as refused:
        deployments.delete(service, trigger)
    assert "The app refused to leave." in refused.value.message and "ignore_hook_errors" in refused.value.message
    standing = deployed_triggers.get(service.store, scene, trigger.id)
    assert standing.active and row(service, trigger)["busy_until"] == 0
    deployments.delete(service, trigger, ignore_hook_errors=True)
    assert listed(service, scene) == []


def test_one_change_at_a_time(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene)
    with lifecycle.locked(service, trigger):
        with pytest.raises(Conflict, match="being changed"):
            deployments.delete(service, trigger)
        deployments.delete(service, trigger, ignore_hook_errors=True)
    other = deploy(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET busy_until = :until", {"until": clock.at + 10 * MINUTE})
    with lifecycle.locked(service, replace(other)):  # a hold from a clock that was ahead is none
        pass


def test_no_more_triggers_are_deployed_than_the_quotas_allow(service: Service, scene: Scene, plant: Plant) -> None:
    strict = with_quotas(service, USER_TRIGGERS=2, PROJECT_TRIGGERS=3)
    first = deploy(strict, scene, given=with_account(plant()))
    deploy(strict, scene, given=with_account(plant()))
    with pytest.raises(Forbidden, match=r"^This user has as many triggers as one user may have \(2\); delete one"):
        deploy(strict, scene, given=with_account(plant()))
    deploy(strict, scene, user="bob", given=with_account(plant("bob")))
    with pytest.raises(Forbidden, match=r"^This project has as many triggers"):
        deploy(strict, Scene(scene.project_id, "production"), "schedule-cron", "carol", given=NOON)
    assert deployed_triggers.fullest(service.store) == (2, 3)
    deployments.delete(service, first)
    assert deploy(strict, scene, given=with_account(plant())).active
    assert len(listed(service, scene)) == 3


def test_a_timer_runs_no_more_often_than_the_operator_allows(service: Service, scene: Scene) -> None:
    strict, often = with_quotas(service, MIN_TIMER_S=10), {"cron": {"intervalSeconds": 9}}
    with pytest.raises(Invalid) as refused:
        deploy(strict, scene, "schedule-custom-interval", given=often)
    assert [detail.message for detail in refused.value.details] == ["It may not run more often than every 10 seconds."]
    assert deploy(service, scene, "schedule-custom-interval", given=often).active


def given(account: Account, **values: Any) -> dict[str, Any]:
    return {"account": {"authProvisionId": account.id}, **values}


def change(service: Service, trigger: DeployedTrigger, **what: Any) -> DeployedTrigger:
    return deployments.update(service, trigger, Change(**what))


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
    assert trigger_accounts.of_triggers(service.store, [trigger.id]) == {trigger.id: []}


def test_other_values_subscribe_again_while_it_is_on(
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
def test_an_invalid_change_changes_nothing(
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


def test_a_trigger_gets_an_address_of_its_own_with_the_version_that_needs_one(
    service: Service, scene: Scene, plant: Plant, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = deploy(service, scene, given=given(plant(), ids=["a"]))
    assert deployed_triggers.endpoint_url(service, trigger) is None
    with_newer(service, monkeypatch, http={"type": "$.interface.http"})
    moved = change(service, trigger, version="1.1.0")
    key = deployed_triggers.endpoint_key(service, moved)
    assert key
    assert inbound_requests.trigger_at(service, key) == moved
    assert deployed_triggers.endpoint_key(service, change(service, moved, configured={"ids": ["b"]})) == key


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


def test_an_activation_that_fails_restores_the_previous_state(
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

    monkeypatch.setattr(deployments, "_write", full)
    with pytest.raises(Unavailable):
        change(service, trigger, configured={"ids": ["b"]})
    stands = deployed_triggers.get(service.store, scene, trigger.id)
    assert not stands.active and stands.next_run_at is None
    assert (stands.switched_off or "").startswith(
        "A change failed, and the previous subscription could not be restored."
    )
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
    assert waiting_triggers.of_dead_accounts(service.store, [trigger.id]) == set()
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
    removal.delete(service, account)
    for trigger in mine:
        stands = deployed_triggers.get(service.store, scene, trigger.id)
        assert not stands.active
        assert stands.switched_off == "Its Tiny Keys account Work was disconnected; choose another account."
    assert deployed_triggers.get(service.store, scene, paused.id).switched_off is None
    assert deployed_triggers.get(service.store, scene, theirs.id).active
    assert called_hooks(provider.calls)[0] in ("leave=a", "leave=b")
    provider.down = False
    with pytest.raises(Invalid, match="account was disconnected"):
        change(service, mine[0], active=True)
    again = change(service, mine[0], active=True, configured=given(plant()))
    assert (again.active, again.switched_off) == (True, None)
    assert removal.delete_of_app(service, scene, "tinykeys", user=None) == 2
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


class Died(BaseException):
    """The process is gone."""


def die(*_: Any, **__: Any) -> None:
    raise Died


@pytest.fixture
def death(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs something in a process that dies when it reaches ``place``: before it, or behind it."""

    def run(work: Callable[[], object], module: Any, place: str, *, behind: bool = False) -> None:
        real = getattr(module, place)

        def reached(*values: Any, **named: Any) -> None:
            if behind:
                real(*values, **named)
            raise Died

        with monkeypatch.context() as patch:
            patch.setattr(module, place, reached)
            patch.setattr(deployments, "_restore", die)
            with pytest.raises(Died):
                work()

    return run


def stands(service: Service, trigger: DeployedTrigger) -> DeployedTrigger:
    return deployed_triggers.get(service.store, trigger.scene, trigger.id)


def ids(service: Service, trigger: DeployedTrigger) -> Any:
    return deployed_triggers.configured(service, stands(service, trigger)).get("ids")


@pytest.fixture
def trigger(service: Service, scene: Scene, plant: Plant, provider: Any) -> DeployedTrigger:
    """One that is subscribed with the id ``a``."""
    account = plant(name="Work")
    made = deploy(service, scene, given={"account": {"authProvisionId": account.id}, "ids": ["a"]})
    provider.calls.clear()
    return made


def other_ids(service: Service, trigger: DeployedTrigger) -> Callable[[], object]:
    return lambda: deployments.update(service, trigger, Change(configured={"ids": ["b"]}))


@pytest.mark.parametrize(
    ("place", "behind", "hooks"),
    [
        ("_unsubscribe", False, ["leave=a", "subscribe=b"]),
        ("_unsubscribe", True, ["leave=a", "leave=a", "subscribe=b"]),
        ("_write", False, ["leave=a", "subscribe=b", "leave=b", "subscribe=b"]),
    ],
    ids=["before the first hook", "between the hooks", "after the hooks"],
)
def test_an_interrupted_change_is_completed(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any, place: str, behind: bool, hooks: list[str]
) -> None:
    death(other_ids(service, trigger), deployments, place, behind=behind)
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active
    assert deployments.recover(service) == 1
    assert called_hooks(provider.calls) == hooks
    assert ids(service, trigger) == ["b"] and stands(service, trigger).active
    assert deployments.recover(service) == 0 and pending_changes.find(service.store, trigger.id) is None


def test_nothing_is_recovered_while_its_process_lives(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any, clock: FakeClock
) -> None:
    death(other_ids(service, trigger), deployments, "_write")
    with lifecycle.locked(service, trigger):
        clock.advance(leases.CHANGE - SECOND)
        assert deployments.recover(service) == 0
    assert deployments.recover(service) == 1


def test_what_the_app_refuses_to_finish_is_undone(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    change = Change(configured={"ids": ["b"], "fail": "subscribe"})
    death(lambda: deployments.update(service, trigger, change), deployments, "_unsubscribe", behind=True)
    assert deployments.recover(service) == 1
    assert called_hooks(provider.calls)[-2:] == ["leave=b", "subscribe=a"]
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active
    assert pending_changes.find(service.store, trigger.id) is None


def test_what_can_be_neither_finished_nor_undone_is_switched_off(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    death(other_ids(service, trigger), deployments, "_write")
    provider.down = True
    assert deployments.recover(service) == 1
    after = stands(service, trigger)
    assert not after.active
    assert (after.switched_off or "").startswith(
        "A change failed, and the previous subscription could not be restored."
    )
    assert pending_changes.find(service.store, trigger.id) is None


def test_an_interrupted_restoration_is_repeated(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore = deployments._restore

    def broken(*values: Any) -> None:
        monkeypatch.setattr(calls, "try_hook", die)
        restore(*values)

    monkeypatch.setattr(deployments, "_restore", broken)
    with pytest.raises(Died):
        deployments.update(service, trigger, Change(configured={"ids": ["b"], "fail": "subscribe"}))
    monkeypatch.undo()
    provider.calls.clear()
    assert deployments.recover(service) == 1
    assert called_hooks(provider.calls) == ["leave=b", "subscribe=a"]
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active


def test_an_interrupted_pause_and_resumption_are_completed(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    death(lambda: deployments.update(service, trigger, Change(active=False)), deployments, "_write")
    assert stands(service, trigger).active
    deployments.recover(service)
    assert not stands(service, trigger).active and stands(service, trigger).switched_off is None
    provider.calls.clear()
    death(lambda: deployments.update(service, trigger, Change(active=True)), deployments, "_write")
    deployments.recover(service)
    assert called_hooks(provider.calls) == ["subscribe=a", "leave=a", "subscribe=a"]
    assert stands(service, trigger).active


def test_a_change_that_is_no_longer_valid_restores_the_previous_state(
    service: Service, trigger: DeployedTrigger, plant: Plant, provider: Any, death: Any
) -> None:
    second = plant(name="Home")
    change = Change(configured={"account": {"authProvisionId": second.id}, "ids": ["b"]})
    death(lambda: deployments.update(service, trigger, change), deployments, "_unsubscribe", behind=True)
    removal.delete(service, second)
    provider.calls.clear()
    assert deployments.recover(service) == 1
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=a"]
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active
    assert pending_changes.find(service.store, trigger.id) is None


def test_an_interrupted_deletion_is_completed(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    death(lambda: deployments.delete(service, trigger), deployments, "_delete_unsubscribed")
    assert stands(service, trigger).active
    assert deployments.recover(service) == 1
    with pytest.raises(NotFound):
        stands(service, trigger)


def test_a_deletion_that_the_app_refuses_now_says_so(service: Service, scene: Scene, death: Any) -> None:
    trigger = deploy(service, scene, given={"fail": "leave"})
    death(lambda: deployments.delete(service, trigger), calls, "try_hook")
    assert deployments.recover(service) == 1
    reason = (
        "Its deletion was interrupted, and it could not be unsubscribed: The app refused to leave. Delete it again."
    )
    assert stands(service, trigger).switched_off == reason
    deployments.delete(service, stands(service, trigger))
    with pytest.raises(NotFound):
        stands(service, trigger)


def test_an_interrupted_removal_of_an_account_leaves_its_triggers_subscribed(
    service: Service, scene: Scene, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    def remove() -> int:
        return removal.delete_of_app(service, scene, "tinykeys", user=None)

    death(remove, trigger_accounts, "switch_off_for_account")
    assert called_hooks(provider.calls) == ["leave=a"]
    provider.calls.clear()
    assert deployments.recover(service) == 1
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=a"]
    assert stands(service, trigger).active
    assert remove() == 1
    reason = "Its Tiny Keys account Work was disconnected; choose another account."
    assert stands(service, trigger).switched_off == reason
    assert row(service, trigger)["busy_until"] == 0 and deployments.recover(service) == 0


def test_an_interrupted_deployment_is_undone(
    service: Service, scene: Scene, plant: Plant, provider: Any, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployments, "_finish_deployment", die)
    monkeypatch.setattr(deployments, "_undo", die)
    with pytest.raises(Died):
        deploy(service, scene, given={"account": {"authProvisionId": plant().id}, "ids": ["a"]})
    monkeypatch.undo()
    clock.advance(leases.CHANGE)
    assert deployments.recover(service) == 1
    assert called_hooks(provider.calls) == ["deploy=a", "subscribe=a", "leave=a"]
    assert service.store.all("SELECT id FROM deployed_triggers") == []


@pytest.mark.parametrize("work", ["delete", "change"])
def test_what_was_lost_with_the_runner_is_recovered_like_what_a_dead_process_left(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    trigger = deploy(service, scene)
    lost = Reply(None, error=ErrorInfo("runner", "RunnerError", LOST))
    with monkeypatch.context() as patch:
        patch.setattr(calls, "call", lambda *_, **__: lost)
        with pytest.raises(Unavailable):
            if work == "delete":
                deployments.delete(service, trigger)
            else:
                deployments.update(service, trigger, Change(configured={"ids": ["new"]}))
        deployments.recover(service)  # in vain: the runner is still away
    assert pending_changes.find(service.store, trigger.id) is not None
    deployments.recover(service)
    assert pending_changes.find(service.store, trigger.id) is None
    if work == "delete":
        assert deployed_triggers.find(service.store, trigger.id) is None
    else:
        assert ids(service, trigger) == ["new"] and stands(service, trigger).active


class Unsure:
    """A runner that ends during the first ``deactivate``, whose second is refused; ``activate`` may be refused too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refused: str = "") -> None:
        self._run, self.asked, self._refused = calls.run_hook, list[str](), refused
        monkeypatch.setattr(calls, "run_hook", self)

    def __call__(self, service: Service, trigger: DeployedTrigger, hook: Any, configured: Any) -> Reply:
        self.asked.append(hook)
        if hook == "deactivate" and self.asked.count(hook) <= 2:
            kind, message = ("runner", LOST) if self.asked.count(hook) == 1 else ("http", "The app is down.")
            return Reply(None, error=ErrorInfo(kind, "Error", message, status=503))  # type: ignore[arg-type]
        if hook == self._refused:
            return Reply(None, error=ErrorInfo("http", "Error", "The app is still down.", status=503))
        return self._run(service, trigger, hook, configured)


def test_a_change_whose_unsubscribing_is_uncertain_subscribes_again(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, app = deploy(service, scene, given={"ids": ["a"]}), Unsure(monkeypatch)
    with pytest.raises(Invalid, match="The app is down"):
        deployments.update(service, trigger, Change(configured={"ids": ["b"]}))
    assert app.asked == ["deactivate", "deactivate", "activate"]
    assert stands(service, trigger).active and ids(service, trigger) == ["a"]
    assert pending_changes.find(service.store, trigger.id) is None


def test_where_that_fails_too_it_is_off_and_says_why(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = deploy(service, scene)
    Unsure(monkeypatch, refused="activate")
    with pytest.raises(Invalid, match="The app is down"):
        deployments.update(service, trigger, Change(configured={"ids": ["b"]}))
    current = stands(service, trigger)
    assert (current.active, "The app is still down." in (current.switched_off or "")) == (False, True)
    assert pending_changes.find(service.store, trigger.id) is None


def test_a_deletion_whose_unsubscribing_is_uncertain_switches_off(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = deploy(service, scene)
    Unsure(monkeypatch)
    with pytest.raises(Conflict, match="The app is down"):
        deployments.delete(service, trigger)
    current = stands(service, trigger)
    assert (current.active, "The app is down." in (current.switched_off or "")) == (False, True)
    deployments.delete(service, current)
    assert deployed_triggers.find(service.store, trigger.id) is None
