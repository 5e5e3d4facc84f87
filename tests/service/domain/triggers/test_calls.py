"""Calls of a trigger's component: what cannot run is a failed reply, and what a hook remembered is kept at once."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.triggers import deploy
from webapp.errors import Conflict, Invalid, Unavailable
from webapp.kit import cursors
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.components.runner import LOST
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_calls
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import calls, deployed_triggers, lifecycle, runs, trigger_memory
from webapp.service.domain.triggers.calls import Hook, HookFailed
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def test_a_component_that_left_the_catalog_fails_with_a_sentence(service: Service, scene: Scene) -> None:
    gone = replace(deploy(service, scene), component_version="9.9.9")
    assert calls.component_of(service, gone) is None
    reply = calls.call(service, gone, "run", state={})
    assert reply.error is not None
    assert (
        reply.error.message
        == "It waits, because version 9.9.9 was removed from this service. Change it to version 1.0.0."
    )
    assert (reply.error.name, reply.ok) == (component_calls.UNUSABLE, False)


def test_values_that_do_not_fit_any_more_fail_too(service: Service, scene: Scene) -> None:
    reply = calls.call(service, deploy(service, scene), "run", state={}, configured={"ids": 1})
    assert reply.error is not None
    assert "ids" in reply.error.message


def test_what_a_hook_remembered_is_kept_even_where_it_fails(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    before = trigger_memory.read(service, trigger)["hooks"]
    with pytest.raises(HookFailed) as failure:
        calls.run_hooks(service, trigger, ["activate"], {"fail": "subscribe"})
    assert (failure.value.hook, failure.value.sentence) == ("activate", "The app refused to subscribe.")
    assert not failure.value.unusable
    assert trigger_memory.read(service, trigger)["hooks"] == [*before, "subscribe"]
    newest = runs.page(service.store, trigger.id, cursors.Window()).items[0]
    assert (newest["cause"], newest["ok"]) == ("activate", 0)


def test_a_hook_of_which_nothing_depends_is_tried(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    assert calls.try_hook(service, trigger, "deactivate", {}) is None
    failure = calls.try_hook(service, trigger, "deactivate", {"fail": "leave"})
    assert failure is not None
    assert failure.sentence == "The app refused to leave."


def test_a_trigger_that_was_deleted_meanwhile_keeps_nothing(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with service.store.write() as tx:
        lifecycle.remove(tx, trigger.id)
    assert deployed_triggers.find(service.store, trigger.id) is None
    with pytest.raises(Conflict):
        calls.run_hooks(service, trigger, ["deploy"], {})


def test_the_error_of_a_failed_hook() -> None:
    refused = Reply(None, error=ErrorInfo("exception", "ComponentError", "No."))
    away = Reply(None, error=ErrorInfo("runner", "Runner", "Not now."))
    account = Reply(None, error=ErrorInfo("exception", component_calls.UNUSABLE, "Reconnect."))
    assert isinstance(HookFailed("deploy", refused).to_error(), Invalid)
    assert isinstance(HookFailed("deploy", away).to_error(), Unavailable)
    assert HookFailed("deploy", account).unusable
    assert HookFailed("deploy", Reply(None)).sentence == "It failed without a reason."


def test_a_hook_that_was_lost_with_the_runner_is_run_once_more(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, run, asked = deploy(service, scene), calls.run_hook, list[str]()

    def lost(service: Service, trigger: DeployedTrigger, hook: Hook, configured: Mapping[str, Any]) -> Reply:
        asked.append(hook)
        if asked.count(hook) == 1:
            return Reply(None, error=ErrorInfo("runner", "RunnerError", LOST))
        return run(service, trigger, hook, configured)

    monkeypatch.setattr(calls, "run_hook", lost)
    assert calls.try_hook(service, trigger, "activate", {}) is None
    assert asked == ["activate", "deactivate", "activate"], "what the first has left is taken back"
    assert calls.try_hook(service, trigger, "deactivate", {"fail": "leave"}) is not None
    assert asked[3:] == ["deactivate"]


def interrupted(monkeypatch: pytest.MonkeyPatch, hook: Hook, *replies: Reply | None) -> list[str]:
    """Let the first tries of ``hook`` get these replies, or run where one is None; the hooks that were asked for."""
    run, asked, left = calls.run_hook, list[str](), list(replies)

    def play(service: Service, trigger: DeployedTrigger, name: Hook, configured: Mapping[str, Any]) -> Reply:
        asked.append(name)
        reply = left.pop(0) if left and name == hook else None
        return reply or run(service, trigger, name, configured)

    monkeypatch.setattr(calls, "run_hook", play)
    return asked


def failing(kind: Any, message: str, status: int | None = None) -> Reply:
    return Reply(None, error=ErrorInfo(kind, "Error", message, status=status))


@pytest.mark.parametrize("status", [404, 410])
def test_what_the_provider_no_longer_has_counts_as_removed(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    trigger = deploy(service, scene)
    asked = interrupted(monkeypatch, "deactivate", failing("runner", LOST), failing("http", "Not found.", status))
    assert calls.try_hook(service, trigger, "deactivate", {}) is None
    assert asked == ["deactivate", "deactivate"]


@pytest.mark.parametrize(("first", "uncertain"), [(failing("runner", LOST), True), (None, False)])
def test_a_failure_after_an_interrupted_try_is_uncertain(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, first: Reply | None, uncertain: bool
) -> None:
    trigger, refused = deploy(service, scene), failing("http", "The app is down.", 503)
    interrupted(monkeypatch, "deactivate", *([first] if first else []), refused)
    failure = calls.try_hook(service, trigger, "deactivate", {})
    assert failure is not None
    assert (failure.uncertain, failure.unknown, failure.sentence) == (uncertain, False, "The app is down.")


@pytest.mark.parametrize(("removed", "told"), [(True, False), (None, True)])
def test_what_an_interrupted_activation_left_is_removed_or_reported(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, removed: bool | None, told: bool
) -> None:
    trigger = deploy(service, scene)
    run = interrupted(monkeypatch, "activate", failing("runner", LOST))
    played = calls.run_hook

    def leave(service: Service, trigger: DeployedTrigger, hook: Hook, configured: Mapping[str, Any]) -> Reply:
        reply = played(service, trigger, hook, configured)
        return replace(reply, value=removed) if hook == "deactivate" else reply

    monkeypatch.setattr(calls, "run_hook", leave)
    assert calls.try_hook(service, trigger, "activate", {}) is None
    assert run == ["activate", "deactivate", "activate"]
    entries = activity.of_scene(service.store, scene, cursors.Window(50), activity.Filter()).items
    sentences = [entry.sentence for entry in entries if entry.kind == "trigger_interrupted"]
    assert bool(sentences) is told
    assert all(f"{trigger.name} was interrupted while it subscribed." in sentence for sentence in sentences)
