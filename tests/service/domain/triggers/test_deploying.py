"""Deploying and deleting: whole or not at all, hooks undone where one fails, nothing seen before it stands."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.triggers import called_hooks, deploy, poll_due, row, summaries
from tests.service.quotas import with_quotas
from webapp.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable
from webapp.kit import cursors
from webapp.kit.clock import MINUTE, FakeClock
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import accounts, calls, deployed_triggers, deploying, lifecycle
from webapp.service.domain.triggers.deployed_triggers import Filter

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


def test_hooks_run_in_order_and_everything_stands(service: Service, scene: Scene, plant: Plant, provider: Any) -> None:
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
    assert accounts.of_triggers(service.store, [trigger.id])[trigger.id] == [{"prop": "account", "id": account.id}]
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


def test_nothing_is_seen_before_it_stands_but_by_its_endpoint(
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
    monkeypatch.setattr(deploying, "_undo", lambda *_, **__: None)
    with pytest.raises(Invalid):
        deploy(service, scene, given=with_account(plant(), fail="subscribe"))
    monkeypatch.undo()
    assert deploying.purge(service) == 0
    clock.advance(lifecycle.BUSY)
    assert deploying.purge(service) == 1
    assert called_hooks(provider.calls)[-1] == "leave="
    assert deploying.purge(service) == 0


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
    deploying.delete(service, trigger)
    assert called_hooks(provider.calls)[-1] == "leave="
    assert listed(service, scene) == []
    assert told(service, scene) == ["trigger_deleted", "trigger_deployed"]
    with pytest.raises(NotFound):
        deploying.delete(service, trigger)


def test_delete_refuses_while_the_app_does_unless_told_to_go_on(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, given={"fail": "leave"})
    with pytest.raises(Conflict) as refused:
        deploying.delete(service, trigger)
    assert "The app refused to leave." in refused.value.message and "ignore_hook_errors" in refused.value.message
    standing = deployed_triggers.get(service.store, scene, trigger.id)
    assert standing.active and row(service, trigger)["busy_until"] == 0
    deploying.delete(service, trigger, ignore_hook_errors=True)
    assert listed(service, scene) == []


def test_one_change_at_a_time(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene)
    with lifecycle.locked(service, trigger):
        with pytest.raises(Conflict, match="being changed"):
            deploying.delete(service, trigger)
        deploying.delete(service, trigger, ignore_hook_errors=True)
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
    deploying.delete(service, first)
    assert deploy(strict, scene, given=with_account(plant())).active
    assert len(listed(service, scene)) == 3


def test_a_timer_runs_no_more_often_than_the_operator_allows(service: Service, scene: Scene) -> None:
    strict, often = with_quotas(service, MIN_TIMER_S=10), {"cron": {"intervalSeconds": 9}}
    with pytest.raises(Invalid) as refused:
        deploy(strict, scene, "schedule-custom-interval", given=often)
    assert [detail.message for detail in refused.value.details] == ["It may not run more often than every 10 seconds."]
    assert deploy(service, scene, "schedule-custom-interval", given=often).active
