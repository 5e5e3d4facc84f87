"""Lists and counts find their rows by an index, in order: their work depends on what they find, not on what there is.

The work is counted in steps of SQLite's virtual machine, so that it is the same on every machine.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from webapp import audit
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import accounts, provider_clients
from webapp.service.domain.components import runs
from webapp.service.domain.projects import external_users, history
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers
from webapp.store.contract import Reader
from webapp.store.sqlite import SQLiteStore, connect

FEW, MANY, WANTED = 200, 20_000, 15
SCENE = Scene("proj_1", "development")
USER = ExternalUser("exu_wanted", "wanted", SCENE)
PAGE = Window(limit=10)

List = Callable[[Reader], object]
ACCOUNTS = {
    "of a user": accounts.Filter(external_id="wanted"),
    "of a user and an app": accounts.Filter(external_id="wanted", app="wanted"),
    "of an app": accounts.Filter(app="wanted"),
    "of a client": accounts.Filter(oauth_app_id="oa_wanted"),
    "of a client and its app": accounts.Filter(oauth_app_id="oa_wanted", app="wanted"),
    "of a user and a client": accounts.Filter(external_id="wanted", oauth_app_id="oa_wanted"),
}
TRIGGERS = {
    "of a user": deployed_triggers.Filter(external_id="wanted"),
    "of a user and an emitter": deployed_triggers.Filter(external_id="wanted", emitter="http"),
    "of an app": deployed_triggers.Filter(app="wanted"),
    "of an app and an emitter": deployed_triggers.Filter(app="wanted", emitter="http"),
    "of an emitter": deployed_triggers.Filter(emitter="http"),
}
RUNS = {
    "of a user": runs.Filter(external_id="wanted"),
    "of a user and a component": runs.Filter(external_id="wanted", component="wanted"),
    "of a component's key": runs.Filter(component="wanted"),
    "of a component": runs.Filter(component="sc_wanted"),
    "of an app": runs.Filter(app="wanted"),
    "of a result": runs.Filter(ok=False),
}
HISTORY = {
    "of a user": history.Filter(external_user_id=USER.id),
    "of an app": history.Filter(app="wanted"),
    "of an account": history.Filter(account_id="apn_wanted"),
    "of a trigger": history.Filter(trigger_id="dc_wanted"),
    "of a kind": history.Filter(kind="wanted"),
    "of a user and a kind": history.Filter(external_user_id=USER.id, kind="wanted"),
}
AUDIT = {
    "of a thing": audit.Filter(SCENE.project_id, SCENE.environment, subject_id="wanted"),
    "by somebody": audit.Filter(SCENE.project_id, SCENE.environment, actor="wanted", workspace=False),
    "of a kind": audit.Filter(SCENE.project_id, SCENE.environment, "wanted"),
    "of another project": audit.Filter("proj_2", SCENE.environment),
}


def _listed(noun: str, filters: Mapping[str, Any], page: Callable[[Reader, Any], object]) -> dict[str, List]:
    return {f"{noun} {name}": partial(_by, page, chosen) for name, chosen in filters.items()}


def _by(page: Callable[[Reader, Any], object], chosen: object, reader: Reader) -> object:
    return page(reader, chosen)


LISTS: dict[str, List] = {
    **_listed("accounts", ACCOUNTS, lambda reader, chosen: accounts.page(reader, SCENE, chosen, PAGE)),
    **_listed("triggers", TRIGGERS, lambda reader, chosen: deployed_triggers.page(reader, SCENE, chosen, PAGE)),
    **_listed("runs", RUNS, lambda reader, chosen: runs.page(reader, SCENE, chosen, PAGE)),
    **_listed("history", HISTORY, lambda reader, chosen: history.of_scene(reader, SCENE, PAGE, chosen)),
    **_listed("audit", AUDIT, lambda reader, chosen: audit.page(reader, chosen, PAGE)),
    "every account of a user": lambda store: accounts.of_user(store, USER),
    "a user's accounts of an app": lambda store: accounts.of_app(store, SCENE, "wanted", user=USER),
    "every trigger of a user": lambda store: deployed_triggers.of_user(store, USER),
    "users of an environment": lambda store: external_users.page(store, Scene("proj_2", "development"), PAGE),
    "how many accounts a client has": lambda store: provider_clients._accounts(store, "oa_wanted"),
}


def test_each_list_is_of_what_it_names(few: SQLiteStore) -> None:
    """So that the tests below look at lists that find something."""
    for name, listed in LISTS.items():
        result = listed(few)
        count = result if isinstance(result, int) else len(getattr(result, "items", result))  # type: ignore[arg-type]
        assert count >= 5, name


@pytest.mark.parametrize("name", LISTS)
def test_an_index_finds_the_rows_in_their_order(few: SQLiteStore, name: str) -> None:
    statements = list[str]()
    with _connection(few) as (reader, connection):
        connection.set_trace_callback(statements.append)
        LISTS[name](reader)
        connection.set_trace_callback(None)
        plans = [row[3] for sql in statements for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert statements
    assert [step for step in plans if step.startswith("SCAN") or "TEMP B-TREE" in step] == []


@pytest.mark.parametrize("name", LISTS)
def test_a_hundred_times_the_rows_cost_no_more_steps(few: SQLiteStore, many: SQLiteStore, name: str) -> None:
    assert _steps(many, LISTS[name]) <= 1.3 * _steps(few, LISTS[name])


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    with closing(_filled(tmp_path_factory.mktemp("few") / "patchbay.db", FEW)) as store:
        yield store


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    with closing(_filled(tmp_path_factory.mktemp("many") / "patchbay.db", MANY)) as store:
        yield store


@contextmanager
def _connection(store: SQLiteStore) -> Iterator[tuple[Reader, sqlite3.Connection]]:
    connection = connect(store.folder / "patchbay.db", 1.0)
    yield connection, connection.db.conn
    connection.db.close()


def _steps(store: SQLiteStore, listed: List) -> int:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with _connection(store) as (reader, connection):
        connection.set_progress_handler(count, 1)
        listed(reader)
    return steps


def _filled(path: Path, rows: int) -> SQLiteStore:
    """A database with :data:`WANTED` rows of what the lists look for, among ``rows`` others of the same scene."""
    store = SQLiteStore(path)
    store.migrate()
    connection = sqlite3.connect(path)
    for number in (1, 2):
        _insert(connection, "projects", _needed(connection, "projects"), {"id": f"proj_{number}"})
    for table in ("external_users", "accounts", "deployed_triggers", "runs", "account_history", "audit"):
        known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        needed = _needed(connection, table)
        for number in range(rows + WANTED):
            wanted = number >= rows
            kind = "wanted" if wanted else "other"
            row = {
                "id": f"{kind}_{number}", "project_id": "proj_1", "environment": "development", "app": kind,
                "external_id": kind, "external_user_id": f"exu_{kind}", "oauth_app_id": f"oa_{kind}",
                "emitter": "http" if wanted else "source", "deployed": 1, "component_key": kind,
                "component_id": f"sc_{kind}", "ok": int(not wanted), "kind": kind, "account_id": f"apn_{kind}",
                "trigger_id": f"dc_{kind}", "subject_id": kind, "actor": kind, "noun": kind,
                "created_at": number, "started_at": number, "at": number, "authorized_scopes": "[]", "props": "[]",
            }  # fmt: skip
            if table == "external_users":
                row |= {"id": f"exu_{number}", "external_id": f"user {number}"}
                row["project_id"] = "proj_2" if wanted else "proj_1"
            if table == "audit" and wanted and number % 2:
                row["project_id"] = "proj_2"
            _insert(connection, table, needed, {name: value for name, value in row.items() if name in known})
        if table == "external_users":
            for kind in ("wanted", "other"):
                user = {"id": f"exu_{kind}", "external_id": kind, "project_id": "proj_1"}
                _insert(connection, table, needed, {**user, "environment": "development"})
    connection.commit()
    connection.close()
    return store


def _needed(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """The columns that must hold something, with their types."""
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return {name: kind for _, name, kind, needed, default, _ in rows if needed and default is None}


def _insert(connection: sqlite3.Connection, table: str, needed: Mapping[str, str], row: dict[str, Any]) -> None:
    """Add ``row``, with something in each other column that must hold something."""
    for name, kind in needed.items():
        if name not in row:
            row[name] = 1 if kind in ("INTEGER", "BIGINT") else b"x" if kind == "BLOB" else f"{name} {row['id']}"
    names = ", ".join(row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in row)})", row)
