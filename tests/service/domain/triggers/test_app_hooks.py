"""Which triggers hear the events of a client: those that are on, once its owner has entered the secret."""

from typing import Any

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.slack_events import SECRET, Stage, told
from tests.fakes.declared.told_events import GitHubApp, ToldStage
from tests.fakes.triggers import summaries
from webapp.errors import Invalid
from webapp.kit.clock import DAY
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.triggers import app_hooks, changing, deployed_triggers, deploying, inbox


def test_what_is_paused_or_deleted_hears_nothing_and_goes_on_when_switched_on(stage: Stage) -> None:
    account = stage.connect("alice")
    alice = stage.deploy("alice", account)
    changing.update(stage.service, alice, changing.Change(active=False))
    stage.send(told("while paused"))
    changing.update(stage.service, alice, changing.Change(active=True))
    stage.send(told("after"))
    assert stage.texts(alice) == ["after"]
    deploying.delete(stage.service, alice)
    assert stage.send(told("deleted")) == 200
    assert inbox.claim(stage.service) is None


def test_what_comes_while_a_trigger_is_changed_is_not_lost(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, listen = stage.deploy("alice"), app_hooks.listen

    def told_before(*args: Any) -> None:
        stage.send(told("meanwhile"))
        assert stage.texts(alice) == ["meanwhile"]
        listen(*args)

    monkeypatch.setattr(app_hooks, "listen", told_before)
    changing.update(stage.service, alice, changing.Change(configured={"channels": ["C1"]}))
    assert stage.texts(alice) == ["meanwhile"]


def test_without_the_secret_of_the_client_nothing_is_started(stage: Stage) -> None:
    stage.client = oauth_apps.add(
        stage.service, app="slack", client_id="n", client_secret="s", project_id=stage.scene.project_id
    )
    with pytest.raises(Invalid, match="The events of Slack are not set up yet"):
        stage.deploy("alice")
    client = oauth_apps.update(stage.service, stage.client, events_secret=SECRET)
    assert oauth_apps.events_secret(stage.service, client) == SECRET
    assert b"8f742231" not in (client.events_sealed or b"8f742231")
    assert stage.deploy("alice").active


def test_a_trigger_from_before_keeps_its_own_address_and_its_secret(stage: Stage) -> None:
    before, now = (stage.service.catalog.component("slack-new-message", version) for version in ("0.0.1", None))
    assert before is not None
    assert now is not None
    types, new_types = ({prop["type"] for prop in component.props} for component in (before, now))
    assert ("$.interface.http" in types, "$.interface.apphook" in types) == (True, False)
    assert ("$.interface.http" in new_types, "$.interface.apphook" in new_types) == (False, True)
    assert "signing_secret" not in str(now.props)


def test_an_account_that_is_connected_with_another_client_hears_the_events_of_that(stage: Stage) -> None:
    account, first = stage.connect("alice"), stage.client
    alice = stage.deploy("alice", account)
    stage.client = oauth_apps.add(
        stage.service, app="slack", client_id="next", client_secret="s", project_id=stage.scene.project_id,
        events_secret=SECRET,
    )  # fmt: skip
    stage.connect("alice", account.id)
    oauth_apps.remove(stage.service, first)
    stage.send(told("by the other"))
    assert stage.texts(alice) == ["by the other"]


def test_where_an_account_is_several_that_is_asked_again(slack_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    github = ToldStage(slack_bench, GitHubApp)
    service, alice = github.service, github.deploy("alice")
    app_hooks.renew(service)  # those of other tests
    monkeypatch.setattr(GitHubApp, "installations", {"alice": [3], "bob": []})
    with pytest.raises(Invalid, match="is not installed where this account may see it"):
        github.deploy("bob")
    assert app_hooks.renew(service) == 0
    service.clock.advance(app_hooks.ASKED_EVERY + 1)  # type: ignore[attr-defined]
    github.teller.broken = True
    assert app_hooks.renew(service) >= 1  # what was known stands
    github.send("acme")
    github.teller.broken = False
    service.clock.advance(app_hooks.ASKED_EVERY + 1)  # type: ignore[attr-defined]
    app_hooks.renew(service)
    github.send("later")
    github.work()
    assert summaries(service, alice) == ["#1 The door sticks"] * 2


def test_what_is_set_anew_while_a_provider_is_asked_again_stands(
    slack_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    github = ToldStage(slack_bench, GitHubApp)
    service, alice, answer = github.service, github.deploy("alice"), app_hooks._answer
    app_hooks.renew(service)  # those of other tests
    service.clock.advance(app_hooks.ASKED_EVERY + 1)  # type: ignore[attr-defined]

    def set_anew(*args: Any) -> Any:
        before = answer(*args)
        monkeypatch.setattr(app_hooks, "_answer", answer)
        monkeypatch.setattr(GitHubApp, "installations", {"alice": [5]})
        app_hooks.listen(service, alice, deployed_triggers.configured(service, alice))
        return before

    monkeypatch.setattr(app_hooks, "_answer", set_anew)
    app_hooks.renew(service)
    keys = "SELECT account_key FROM event_listeners WHERE trigger_id = :id"
    assert service.store.tuples(keys, {"id": alice.id}) == [("5",)]
    service.clock.advance(-DAY)  # type: ignore[attr-defined]
    assert app_hooks.renew(service) >= 1, "a clock that was set back puts it off"
