"""Calling a component for an external user: what is given is checked first, and its own failures are answers.

Options as the wire has them: labelled objects, whatever form a declaration or a component gave them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from webapp.errors import Invalid, NotFound
from webapp.kit import cursors
from webapp.service.components.calls import Call, ErrorInfo, Reply
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_calls, component_requests, components, run_files, runs
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.domain.projects.projects import Scene

Plant = Callable[..., Account]


def request(service: Service, scene: Scene, key: str = "~/make-task", **given: Any) -> ComponentRequest:
    return ComponentRequest(scene, "alice", component_requests.find(service, key, None), given)


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
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: "@acme/piece-shop")
    states: list[Any] = []

    def call(_: Service, asked: Call, *__: Any) -> Reply:
        states.append(asked.state)
        return Reply("done", state={"flow:count": len(states)})

    monkeypatch.setattr(component_calls, "call", call)
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
    asked = request(service, scene, **given)
    answers = components.configure(service, asked, OptionsQuery("project_id")), components.reload(service, asked)
    assert [answer["errors"] for answer in answers] == [["There is no such account."]] * 2
    assert (answers[0]["options"], answers[1]["dynamicProps"]) == (None, None)
    assert provider.calls == []


def test_a_reload_of_another_way_to_connect_asks_for_its_accounts(service: Service, scene: Scene, plant: Plant) -> None:
    component = component_requests.find(service, "~/make-task", None)
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
            ComponentRequest(
                scene, "alice", component_requests.find(service, "~/make-task", None), given, "dyp_nothing"
            ),
        )


def test_fixed_options_need_no_call_and_others_have_none(service: Service, scene: Scene) -> None:
    page = components.configure(service, request(service, scene, "~/every-type"), OptionsQuery("text"))
    assert page["options"] or page["stringOptions"]
    asked = request(service, scene, "~/every-type")
    none = components.configure(service, asked, OptionsQuery("flag"))
    assert none["errors"] == ["That prop has no options to look up; ask the person for its value."]
    assert wrong(partial(components.configure, service, asked, OptionsQuery("nothing"))) == ["prop_name"]


def test_without_a_stash_no_files_are_told_of(service: Service, scene: Scene) -> None:
    answer = components.run(service, request(service, scene, "~/fail", token="t"))
    assert "stash_id" not in answer
    assert run_files.EXPORT not in answer["exports"]


def test_options_that_an_account_decides_say_that_it_is_missing(service: Service, scene: Scene, provider: Any) -> None:
    answer = components.configure(service, request(service, scene), OptionsQuery("project_id"))
    assert (answer["errors"], answer["options"]) == (["account is missing; choose a connected account."], None)
    assert provider.calls == []


def test_options_of_a_declaration_are_narrowed_by_their_labels() -> None:
    prop = {"options": ["Red", {"label": "Dark red", "value": 5}, {"__lv": {"label": "Blue", "value": "b"}}, 2.0]}
    assert components.static_options(prop, " RED ")["options"] == [
        {"label": "Red", "value": "Red"},
        {"label": "Dark red", "value": 5},
    ]
    assert components.static_options(prop, None)["options"][2:] == [
        {"label": "Blue", "value": "b"},
        {"label": "2", "value": "2"},
    ]


def test_what_a_component_answered_and_why_it_could_not() -> None:
    answer = components.options_answer({}, Reply({"options": [1], "context": {"next": 2}}))
    assert (answer["options"], answer["context"], answer["errors"]) == ([{"label": "1", "value": 1}], {"next": 2}, [])
    failed = components.options_answer({}, Reply(None, error=ErrorInfo("exception", "E", "No.")))
    assert (failed["options"], failed["errors"]) == (None, ["No."])
