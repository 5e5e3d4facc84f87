"""Calling a component for an external user: what is given is checked first, and its own failures are answers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from webapp.errors import Invalid, NotFound
from webapp.kit import cursors
from webapp.service.components.calls import Call, Reply
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import piece_reach
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import components, grants, requests, run_files, runs
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.domain.projects.projects import Scene

Plant = Callable[..., Account]


def request(service: Service, scene: Scene, key: str = "~/make-task", **given: Any) -> ComponentRequest:
    return ComponentRequest(scene, "alice", requests.find(service, key, None), given)


def wrong(call: Callable[[], object]) -> list[str]:
    """The fields that ``call`` refuses."""
    with pytest.raises(Invalid) as refusal:
        call()
    return [detail.field for detail in refusal.value.details]


def test_a_failed_run_is_an_answer_and_is_kept_without_secrets(service: Service, scene: Scene) -> None:
    answer = components.run(service, request(service, scene, "~/fail", token="canary-token"))
    assert answer["ret"] is None
    assert answer["os"][-1]["err"]["message"].startswith("It failed with ")
    assert "canary-token" not in str(answer)
    (kept,) = runs.page(service.store, scene, runs.Filter(), cursors.Window()).items
    assert (kept.ok, kept.external_id, kept.component_key) == (False, "alice", "~/fail")


def test_what_a_component_keeps_goes_into_its_next_run(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piece_reach, "package_of", lambda path: "@acme/piece-shop")
    states: list[Any] = []

    def call(_: Service, asked: Call, *__: Any) -> Reply:
        states.append(asked.state)
        return Reply("done", state={"flow:count": len(states)})

    monkeypatch.setattr(grants, "call", call)
    for _ in range(2):
        assert components.run(service, request(service, scene, "~/fail", token="t"))["ret"] == "done"
    assert states == [{}, {"flow:count": 1}]


def test_a_missing_value_is_refused_before_anything_runs(service: Service, scene: Scene) -> None:
    assert wrong(lambda: components.run(service, request(service, scene, "~/fail"))) == ["configured_props.token"]
    assert wrong(lambda: components.run(service, request(service, scene, "~/fail", token=1))) == [
        "configured_props.token"
    ]
    assert not runs.page(service.store, scene, runs.Filter(), cursors.Window()).items


def test_somebody_elses_account_cannot_be_used(service: Service, scene: Scene, plant: Plant, provider: Any) -> None:
    bobs = plant("bob")
    given: dict[str, Any] = {"account": {"authProvisionId": bobs.id}, "project_id": "p1"}
    with pytest.raises((Invalid, NotFound)):
        components.configure(service, request(service, scene, **given), OptionsQuery("project_id"))
    assert provider.calls == []


def test_a_reload_of_another_way_to_connect_asks_for_its_accounts(service: Service, scene: Scene, plant: Plant) -> None:
    component = requests.find(service, "~/make-task", None)
    other = replace(component, json=component.json.replace(b'"app":"tinykeys"', b'"app":"tinyoauth"'))
    assert other != component
    account = plant(app="tinyoauth", values={"oauth_access_token": "x", "region": "eu"})
    values = {"account": {"authProvisionId": account.id}, "project_id": "p1"}
    reloaded = components.reload(service, ComponentRequest(scene, "alice", other, values))
    props = {prop["name"]: prop for prop in reloaded["dynamicProps"]["configurableProps"]}
    assert props["account"]["app"] == "tinyoauth"


def test_what_depends_on_values_needs_a_reload_first(service: Service, scene: Scene, plant: Plant) -> None:
    given: dict[str, Any] = {"account": {"authProvisionId": plant().id}, "project_id": "p1", "title": "T"}
    assert wrong(lambda: components.run(service, request(service, scene, **given))) == ["dynamic_props_id"]
    unknown = OptionsQuery("colour")
    assert wrong(lambda: components.configure(service, request(service, scene, **given), unknown)) == [
        "dynamic_props_id"
    ]
    reloaded = components.reload(service, request(service, scene, **given))
    names = [prop["name"] for prop in reloaded["dynamicProps"]["configurableProps"]]
    assert (reloaded["errors"], {"colour", "size"} <= set(names)) == ([], True)
    with pytest.raises(NotFound):
        components.run(
            service,
            ComponentRequest(scene, "alice", requests.find(service, "~/make-task", None), given, "dyp_nothing"),
        )


def test_fixed_options_need_no_call_and_others_have_none(service: Service, scene: Scene) -> None:
    page = components.configure(service, request(service, scene, "~/every-type"), OptionsQuery("text"))
    assert page["options"] or page["stringOptions"]
    for prop in ("flag", "nothing"):
        asked = partial(components.configure, service, request(service, scene, "~/every-type"), OptionsQuery(prop))
        assert wrong(asked) == ["prop_name"]


def test_without_a_stash_no_files_are_told_of(service: Service, scene: Scene) -> None:
    answer = components.run(service, request(service, scene, "~/fail", token="t"))
    assert "stash_id" not in answer
    assert run_files.EXPORT not in answer["exports"]


def test_options_that_an_account_decides_say_that_it_is_missing(service: Service, scene: Scene, provider: Any) -> None:
    with pytest.raises(Invalid, match=r"^account is missing; choose a connected account\.$") as refusal:
        components.configure(service, request(service, scene), OptionsQuery("project_id"))
    assert [detail.field for detail in refusal.value.details] == ["configured_props.account"]
    assert provider.calls == []
