"""Every list and count by every filter, and databases to run them on: what they look for, among rows of others.

``test_plans.py`` finds the lists in the code, so that none is left out here.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from webapp import audit
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import accounts, app_overrides, oauth_apps
from webapp.service.domain.accounts.oauth_apps import OAuthAppFilter
from webapp.service.domain.components import runs
from webapp.service.domain.deliveries import log, workflows
from webapp.service.domain.logs import logs
from webapp.service.domain.projects import activity, external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.log_entries import KINDS, Kind, LogFilter
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, trigger_accounts
from webapp.service.domain.triggers import runs as trigger_runs
from webapp.store.contract import Reader
from webapp.store.sqlite import SQLiteStore

WANTED = 15
NUMBER = 987_654_321
"""Stands for the number of a row in a row that is to be there many times."""
TABLES = (
    "external_users", "accounts", "deployed_triggers", "runs", "account_history", "audit", "events", "deliveries",
    "trigger_runs", "agent_approvals", "api_calls", "trigger_accounts", "endpoints", "provider_clients",
    "app_overrides",
)  # fmt: skip
NOW = 1 << 40
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
    "of a user": activity.Filter(external_user_id=USER.id),
    "of an app": activity.Filter(app="wanted"),
    "of an account": activity.Filter(account_id="apn_wanted"),
    "of a trigger": activity.Filter(trigger_id="dc_wanted"),
    "of a kind": activity.Filter(kind="wanted"),
    "of a user and a kind": activity.Filter(external_user_id=USER.id, kind="wanted"),
}
DELIVERIES = {
    "of a trigger": log.Filter(),
    "of a trigger that failed": log.Filter(status="failed"),
    "of a trigger since a time": log.Filter(since=1),
    "of a trigger that failed until a time": log.Filter(status="failed", until=1 << 40),
}
AUDIT = {
    "of a thing": audit.Filter(SCENE.project_id, SCENE.environment, subject_id="wanted"),
    "by somebody": audit.Filter(SCENE.project_id, SCENE.environment, actor="wanted", workspace=False),
    "of a kind": audit.Filter(SCENE.project_id, SCENE.environment, "wanted"),
    "of another project": audit.Filter("proj_2", SCENE.environment),
}
OF_USER = {"external_id": "wanted", "user_id": USER.id}
LOGS: dict[str, tuple[dict[str, Any], Kind | None, str | None]] = {
    "of an environment": ({}, None, None),
    "of a user": (OF_USER, None, None),
    "of an app": ({"app": "wanted"}, None, None),
    "that failed": ({"status": "failed"}, None, None),
    "that wait": ({"status": "waiting"}, None, None),
    "that succeeded": ({"status": "succeeded"}, None, None),
    "until a time": ({"until": 10}, None, None),
    "of a user that failed": (OF_USER | {"status": "failed"}, None, None),
    "of an app that failed": ({"app": "wanted", "status": "failed"}, None, None),
    "that a user made": (OF_USER | {"own": True}, None, None),
    "of a user and an app": (OF_USER | {"app": "wanted"}, None, None),
    "of a user and an app that failed": (OF_USER | {"app": "wanted", "status": "failed"}, None, None),
    "of a user and a component": (OF_USER | {"component_key": "wanted"}, None, None),
    "of a user and an id of a component": (OF_USER, None, "sc_wanted"),
    "of an account": ({}, None, "apn_wanted"),
    "of an account that failed": ({"status": "failed"}, None, "apn_wanted"),
    "of a trigger": ({}, None, "dc_wanted"),
    "of a trigger that failed": ({"status": "failed"}, None, "dc_wanted"),
    "of a component": ({"component_key": "wanted"}, None, None),
    "of a component that failed": ({"component_key": "wanted", "status": "failed"}, None, None),
    "of an id of a component": ({}, None, "sc_wanted"),
    **{f"of the kind {kind}": ({}, kind, None) for kind in KINDS},
    **{f"of the kind {kind} that failed": ({"status": "failed"}, kind, None) for kind in KINDS if kind != "event"},
    **{f"of the kind {kind} of a user": (OF_USER, kind, None) for kind in KINDS},
}


def _logs(reader: Reader, chosen: tuple[dict[str, Any], Kind | None, str | None]) -> object:
    filters, kind, entry_id = chosen
    return logs.page(reader, NOW, LogFilter(SCENE, **filters), PAGE, kind=kind, entry_id=entry_id).entries


def _listed(noun: str, filters: Mapping[str, Any], page: Callable[[Reader, Any], object]) -> dict[str, List]:
    return {f"{noun} {name}": partial(_by, page, chosen) for name, chosen in filters.items()}


def _by(page: Callable[[Reader, Any], object], chosen: object, reader: Reader) -> object:
    return page(reader, chosen)


LISTS: dict[str, List] = {
    **_listed("accounts", ACCOUNTS, lambda reader, chosen: accounts.page(reader, SCENE, chosen, PAGE)),
    **_listed("triggers", TRIGGERS, lambda reader, chosen: deployed_triggers.page(reader, SCENE, chosen, PAGE)),
    **_listed("runs", RUNS, lambda reader, chosen: runs.page(reader, SCENE, chosen, PAGE)),
    **_listed("history", HISTORY, lambda reader, chosen: activity.of_scene(reader, SCENE, PAGE, chosen)),
    **_listed("deliveries", DELIVERIES, lambda reader, chosen: log.page(reader, "dc_wanted", chosen, PAGE)),
    **_listed("audit", AUDIT, lambda reader, chosen: audit.page(reader, chosen, PAGE)),
    **_listed("logs", LOGS, _logs),
    "accounts of a user as a list shows them": lambda store: accounts.listed_page(
        store, SCENE, ACCOUNTS["of a user"], PAGE
    ),
    "history of one account": lambda store: activity.of_account(store, "apn_wanted", PAGE),
    "triggers of an account": lambda store: trigger_accounts.page_of_account(store, "apn_wanted", PAGE),
    "runs of a trigger": lambda store: trigger_runs.page(store, "dc_wanted", PAGE),
    "workflows of an environment": lambda store: workflows.page(store, SCENE, PAGE),
    "clients of a project": lambda store: oauth_apps.page(store, SCENE.project_id, OAuthAppFilter(), PAGE),
    "overrides of a project": lambda store: app_overrides.page(store, SCENE.project_id, PAGE),
    "every account of a user": lambda store: accounts.of_user(store, USER),
    "a user's accounts of an app": lambda store: accounts.of_app(store, SCENE, "wanted", user=USER),
    "every trigger of a user": lambda store: deployed_triggers.of_user(store, USER),
    "users of an environment": lambda store: external_users.page(store, Scene("proj_2", "development"), PAGE),
    "how many accounts a client has": lambda store: accounts.count_of_oauth_app(store, "oa_wanted"),
}


def filled(path: Path, rows: int) -> SQLiteStore:
    """A database at ``path`` with :data:`WANTED` rows of what the lists look for, among ``rows`` others."""
    store = SQLiteStore(path)
    store.migrate()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for number in (1, 2):
            insert(connection, "projects", [{"id": f"proj_{number}"}])
        for table in TABLES:
            _insert_numbered(connection, table, _row(table, NUMBER, wanted=False), rows)
            insert(connection, table, (_row(table, number, wanted=True) for number in range(rows, rows + WANTED)))
        ends = [
            {**_of(kind), "id": f"dc_{kind}", "external_id": kind, "external_user_id": f"exu_{kind}"}
            for kind in ("wanted", "other")
        ]
        insert(connection, "deployed_triggers", ends)
        insert(
            connection,
            "endpoints",
            [{**_of(kind), "id": f"wh_{kind}", "url_hash": kind} for kind in ("wanted", "other")],
        )
        users = [{**_of(kind), "id": f"exu_{kind}", "external_id": kind} for kind in ("wanted", "other")]
        insert(connection, "external_users", users)
        connection.commit()
    return store


def _row(table: str, number: int, *, wanted: bool) -> dict[str, Any]:
    kind = "wanted" if wanted else "other"
    row = {
        **_of(kind), "id": f"{_ID.get(table, '')}{kind}_{number}", "external_id": kind,
        "external_user_id": f"exu_{kind}",
        "oauth_app_id": f"oa_{kind}", "emitter": "http" if wanted else "source", "deployed": 1, "component_key": kind,
        "component_id": f"sc_{kind}", "ok": int(not wanted), "account_id": f"apn_{kind}", "trigger_id": f"dc_{kind}",
        "subject_id": kind, "actor": kind, "noun": kind, "url_hash": f"{kind}_{number}",
        "created_at": number, "started_at": number, "at": number,
        "authorized_scopes": "[]", "props": "[]",
    }  # fmt: skip
    row |= _OF_TABLE.get(table, {}) | (_WANTED.get(table, {}) if wanted else {})
    if table == "deliveries":
        row |= {"event_id": f"events_{kind}_{number}", "endpoint_id": f"wh_{kind}"}
        row["status"] = "waiting" if wanted and number % 2 else row["status"]
    if table == "external_users":
        row |= {"id": f"exu_{number}", "external_id": f"user {number}"}
    if table == "trigger_accounts":
        row["trigger_id"] = f"{kind}_{number}"
    if wanted and (table == "external_users" or (table == "audit" and number % 2)):
        row["project_id"] = "proj_2"
    return row


_ID = {table: f"{table}_" for table in TABLES[4:]}  # ids of the logs are of one table each
_OF_TABLE: dict[str, dict[str, Any]] = {
    "deliveries": {"status": "delivered"},
    "agent_approvals": {"state": "used", "expires_at": 1},
    "api_calls": {"status": 200},
    "runs": {"state": "ended"},
    "account_history": {"good": 1},
    "endpoints": {"owner": "trigger"},
    "provider_clients": {"project_id": "proj_2", "external_user_id": None, "scopes": "[]"},
    "app_overrides": {"project_id": "proj_2", "fields": "{}"},
}
_WANTED: dict[str, dict[str, Any]] = {
    "deliveries": {"status": "failed"},
    "agent_approvals": {"state": "refused"},
    "api_calls": {"status": 400},
    "account_history": {"good": 0},
    "endpoints": {"owner": "workflow", "trigger_id": None},
    "provider_clients": {"project_id": "proj_1"},
    "app_overrides": {"project_id": "proj_1"},
}
"""What rows that are looked for have in common, beside their names."""


def _of(kind: str) -> dict[str, Any]:
    return {"project_id": "proj_1", "environment": "development", "app": kind, "kind": kind}


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    """Add ``rows``, with something in each other column that must hold something."""
    for row in rows:
        values = _whole(connection, table, row)
        connection.execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(f':{name}' for name in values)})", values
        )


def _insert_numbered(connection: sqlite3.Connection, table: str, row: dict[str, Any], count: int) -> None:
    """Add ``row`` with each number from 0 to ``count`` where it has :data:`NUMBER`; the database is quick at that."""
    values = _whole(connection, table, row)
    places = (_numbered(name, value) for name, value in values.items())
    connection.execute(
        "WITH RECURSIVE numbers(number) AS "
        "(SELECT 0 WHERE 0 < :_count UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < :_count) "
        f"INSERT INTO {table} ({', '.join(values)}) SELECT {', '.join(places)} FROM numbers",
        {**values, "_count": count},
    )


def _numbered(name: str, value: object) -> str:
    if value == NUMBER:
        return "number"
    return f"replace(:{name}, '{NUMBER}', number)" if str(NUMBER) in str(value) else f":{name}"


def _whole(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> dict[str, Any]:
    """``row`` without what is no column of ``table``, and with something in what must hold something."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    needed = {name: kind for _, name, kind, needed, default, _ in columns if needed and default is None}
    values = {name: _something(name, kind, row["id"]) for name, kind in needed.items()}
    return values | {name: row[name] for _, name, *_ in columns if name in row}


def _something(name: str, kind: str, row_id: str) -> object:
    return 1 if kind in ("INTEGER", "BIGINT") else b"x" if kind == "BLOB" else f"{name} {row_id}"
