"""Calling a component for an external user: what is given is checked first, and its own failures are answers.

Options as the wire has them: labelled objects, whatever form a declaration or a component gave them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.fakes.databases import postgres_server
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
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.databases import DatabaseAccount
from webapp.service.outbound.guard import Guard

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


TABLES = """
create table people (id serial primary key, name text not null default 'nobody', born date);
insert into people (name) select 'p' || n from generate_series(1, 20) n;
create view elders as select * from people;
create schema shop;
create table shop.orders (total numeric(9, 2));
analyze people;
"""


@pytest.fixture(scope="module")
def database() -> Iterator[DatabaseAccount]:
    """A server with two tables and a view."""
    with postgres_server.server() as account:
        where = make_conninfo(
            host="127.0.0.1", port=account.port, dbname=account.database, user=account.user, password=account.password
        )
        with psycopg.connect(where) as connection:
            connection.execute(TABLES)
        yield account


def configure(service: Service, scene: Scene, account: Account | None) -> dict[str, object]:
    component = component_requests.find(service, "~/query", None)
    given = {"account": {"authProvisionId": account.id}} if account else {}
    return components.configure(service, ComponentRequest(scene, "alice", component, given), OptionsQuery("statement"))


def values_of(account: DatabaseAccount, **changes: str) -> dict[str, str]:
    return {
        "host": "127.0.0.1", "port": str(account.port), "database": account.database, "user": account.user,
        "password": account.password, "ssl_mode": "prefer", **changes,
    }  # fmt: skip


def test_tables_and_columns_of_a_real_database(
    service: Service, scene: Scene, plant: Callable[..., Account], database: DatabaseAccount
) -> None:
    outbound = OutboundClient(Guard([f"127.0.0.1:{database.port}"]), user_agent="tests")
    account = plant("alice", app="postgresql", values=values_of(database))
    answer = configure(replace(service, outbound=outbound), scene, account)
    assert (answer["options"], answer["stringOptions"], answer["errors"]) == (None, None, [])
    context = answer["context"]
    assert isinstance(context, dict)
    found = context["dbInfo"]
    assert list(found) == ["elders", "people", "shop.orders"]
    assert found["people"]["metadata"] == {"rowCount": 20}
    assert found["people"]["schema"]["name"] == {
        "columnDefault": "'nobody'::text", "dataType": "text", "isNullable": False, "tableSchema": "public",
    }  # fmt: skip
    assert list(found["people"]["schema"]) == ["id", "name", "born"]
    assert found["shop.orders"]["schema"]["total"]["tableSchema"] == "shop"
    assert found["elders"]["metadata"] == {"rowCount": None}


def test_what_keeps_it_from_the_database_is_an_error_of_a_good_answer(
    service: Service, scene: Scene, plant: Callable[..., Account], database: DatabaseAccount
) -> None:
    outbound = OutboundClient(Guard([f"127.0.0.1:{database.port}"]), user_agent="tests")
    allowed = replace(service, outbound=outbound)
    wrong = plant("alice", app="postgresql", values=values_of(database, password="wrong"))
    no_port = plant("alice", app="postgresql", values=values_of(database, port="x"))
    fine = plant("alice", app="postgresql", values=values_of(database))
    for opened, account, said in (
        (allowed, wrong, "refused the user name or password"),
        (allowed, no_port, "port"),
        (service, fine, "not on the public internet"),
    ):
        answer = configure(opened, scene, account)
        assert isinstance(answer["errors"], list) and said in answer["errors"][0]
        assert isinstance(answer["observations"], list) and answer["observations"][0]["k"] == "error"
        assert answer["context"] is None


def test_without_an_account_there_is_nothing_to_ask(service: Service, scene: Scene) -> None:
    assert configure(service, scene, None)["errors"] == ["account is missing; choose a connected account."]
