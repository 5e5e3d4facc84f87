"""The tables and columns of a database that a statement may use, and what keeps it from them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.fakes.databases import postgres_server
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, components
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.databases import DatabaseAccount
from webapp.service.outbound.guard import Guard

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
