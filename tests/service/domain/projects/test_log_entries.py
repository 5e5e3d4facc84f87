"""One statement reads a page from every table, each part by one index, and leaves out what a table cannot have."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from webapp.kit import cursors
from webapp.kit.cursors import BadCursor, Window
from webapp.service.domain.projects import log_entries
from webapp.service.domain.projects.log_entries import LogEntry, LogFilter, LogRow, LogSource
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import IN_ORDER, Reader, limited

SCENE, TWO = Scene("proj_1", "development"), Window(2)


class Recorder:
    """A reader that finds nothing, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked = list[tuple[str, Mapping[str, Any]]]()

    def tuples(self, sql: str, params: Mapping[str, Any]) -> list[tuple[int, ...]]:
        self.asked.append((sql, params))
        return [(7,)] if "COUNT(*)" in sql else []


def entry_of(row: LogRow, now: int) -> LogEntry:
    return row.entry("run", "succeeded", str(now))


SOURCE = LogSource(
    "run", "x", (), "things", {"at": "made_at", "id": "id", "ok": "fine"}, entry_of,
    {"succeeded": ("fine = 1",), "failed": ("fine = 0 AND ends < :now",)}, apart=("fine = 1", "fine = 0"),
    subjects=("trigger_id", "component_key"), together=("trigger_id",), only="mine = 1", usually="found > 0",
    of_user="own = 1",
)  # fmt: skip


def asked(log_filter: LogFilter, window: Window = TWO, source: LogSource = SOURCE) -> tuple[str, Mapping[str, Any]]:
    """The statement of a page, and its parameters; "" if there is none."""
    reader = Recorder()
    log_entries.newest(cast(Reader, reader), [source], log_filter, window, "m", 7)
    return reader.asked[0] if reader.asked else ("", {})


def test_each_part_is_read_in_the_order_of_the_list_and_no_further_than_the_page() -> None:
    sql, params = asked(LogFilter(SCENE))
    of_scene = "FROM things WHERE project_id = :project_id AND environment = :environment AND mine = 1 AND found > 0"
    assert sql.startswith(IN_ORDER) and sql.count(" UNION ALL ") == 1
    for condition in ("fine = 1", "fine = 0"):
        assert f"{of_scene} AND {condition} /* " in sql
        assert f"{of_scene} AND {condition} ORDER BY at DESC, id DESC LIMIT 3) AS part" in limited(sql)
    for text in (sql, limited(sql)):
        assert text.endswith(" ORDER BY at DESC, id DESC LIMIT 3")
    assert params == {"project_id": "proj_1", "environment": "development"}
    sql, params = asked(LogFilter(SCENE, status="failed"))
    assert "UNION" not in sql and "fine = 0 AND ends < :now" in sql and params["now"] == 7
    assert asked(LogFilter(SCENE, status="waiting")) == ("", {})
    quiet, _ = asked(LogFilter(SCENE, quiet=True))
    assert "mine = 1" in quiet and "found > 0" not in quiet


def test_what_is_one_user_s_is_looked_up_and_whose_it_is_asked_once() -> None:
    sql, params = asked(LogFilter(SCENE, user_id="exu_1", trigger_id="dc_1", app="a", since=3, until=4))
    assert "WHERE trigger_id = CASE WHEN (SELECT things_of.project_id = :project_id" in sql
    for column in ("environment", "external_user_id", "app"):
        assert f"things_of.{column} = :{column}" in sql
    assert "UNION" not in sql and "made_at >= :since AND made_at <= :until" in sql and params["since"] == 3
    assert "own = 1" not in sql and "own = 1" in asked(LogFilter(SCENE, own=True))[0]
    assert asked(LogFilter(SCENE, account_id="apn_1")) == ("", {}), "the table has no such column"


def test_a_user_is_looked_up_before_or_with_what_many_share() -> None:
    sql, _ = asked(LogFilter(SCENE, user_id="exu_1", app="a"))
    assert "u.environment = :environment) THEN :external_user_id END AND app = :app" in sql
    sql, _ = asked(LogFilter(SCENE, component_key="a-b", app="a"))
    assert "environment = :environment AND component_key = :component_key AND (app = :app) IS TRUE" in sql
    sql, _ = asked(LogFilter(SCENE, external_id="a", component_key="a-b", app="a"), source=replace(SOURCE, user="name"))
    assert "AND name = :name AND component_key = :component_key AND (app = :app) IS TRUE" in sql


def test_a_page_continues_where_the_cursor_says() -> None:
    cursor = cursors.encode("m", (5, "z"))
    sql, params = asked(LogFilter(SCENE), Window(2, after=cursor))
    assert "(made_at, id) < (:after_0, :after_1) /* " in sql and params["after_0"] == 5
    sql, _ = asked(LogFilter(SCENE), Window(2, before=cursor))
    assert "(made_at, id) > (:before_0, :before_1) /* " in sql and sql.endswith("ORDER BY at ASC, id ASC LIMIT 3")
    with pytest.raises(BadCursor):
        asked(LogFilter(SCENE), Window(5, after="broken"))


def test_kinds_without_a_source_or_a_row_are_counted_as_none() -> None:
    reader = Recorder()
    counts = log_entries.count(cast(Reader, reader), [SOURCE], LogFilter(SCENE), 0)
    assert counts == dict.fromkeys(log_entries.KINDS, 0) | {"run": 7}
    assert reader.asked[0][0].count("LIMIT 50") == 3, "of each part, and of the kind"
    nothing = log_entries.count(cast(Reader, reader), [SOURCE], LogFilter(SCENE, status="waiting"), 0)
    assert set(nothing.values()) == {0} and len(reader.asked) == 1
