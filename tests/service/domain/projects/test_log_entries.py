"""A source asks once for each outcome, by one index, and leaves out what its table can not have."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from webapp.kit import cursors
from webapp.kit.cursors import BadCursor, Window
from webapp.service.domain.projects.log_entries import LogEntry, LogFilter, LogSource
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader

SCENE = Scene("proj_1", "development")


class Recorder:
    """A reader that finds one row each time, and keeps what it was asked."""

    def __init__(self, rows: Sequence[tuple[str, int]] = ()) -> None:
        self.rows, self.asked = rows, list[tuple[str, Mapping[str, Any]]]()

    def tuples(self, sql: str, params: Mapping[str, Any]) -> list[tuple[str, int]]:
        self.asked.append((sql, params))
        return list(self.rows)[: params.get("limit", params.get("most"))]


def entry_of(row: Sequence[Any], now: int) -> LogEntry:
    return LogEntry("run", row[0], row[1], "succeeded", str(now), "")


SOURCE = LogSource(
    "run", "x", (), "things", "id, at", entry_of, {"succeeded": ("ok = 1",), "failed": ("ok = 0 AND ends < :now",)},
    subjects=("trigger_id",), alone=("trigger_id",), only="quiet = 0", of_user="own = 1",
)  # fmt: skip


def asked(log_filter: LogFilter) -> list[tuple[str, Mapping[str, Any]]]:
    reader = Recorder()
    SOURCE.newest(cast(Reader, reader), log_filter, Window(2), "m", 7)
    return reader.asked


def test_each_outcome_is_a_question_of_its_own_in_the_order_of_the_list() -> None:
    (succeeded, failed) = asked(LogFilter(SCENE))
    assert succeeded[0] == (
        "SELECT id, at FROM things WHERE project_id = :project_id AND environment = :environment AND quiet = 0 "
        "AND ok = 1 ORDER BY at DESC, id DESC LIMIT :limit"
    )
    assert succeeded[1] == {"project_id": "proj_1", "environment": "development", "limit": 3}
    assert "ok = 0 AND ends < :now" in failed[0] and failed[1]["now"] == 7
    assert [sql for sql, _ in asked(LogFilter(SCENE, status="failed"))] == [failed[0]]
    assert asked(LogFilter(SCENE, status="waiting")) == []


def test_the_narrowest_filter_is_looked_up_and_the_others_are_checked() -> None:
    sql, params = asked(LogFilter(SCENE, user_id="exu_1", trigger_id="dc_1", app="a", since=3, until=4))[0]
    assert "trigger_id = :trigger_id" in sql and "COALESCE(project_id, '') = :project_id" in sql
    assert "COALESCE(external_user_id, '') = :external_user_id" in sql and "COALESCE(app, '') = :app" in sql
    assert "at >= :since AND at <= :until" in sql and params["since"] == 3
    assert "own = 1" not in sql and "own = 1" in asked(LogFilter(SCENE, own=True))[0][0]
    assert asked(LogFilter(SCENE, account_id="apn_1")) == [], "the table has no such column"


def test_answers_are_merged_by_time_in_the_way_that_the_page_reads() -> None:
    reader = cast(Reader, Recorder([("b", 2), ("a", 2), ("c", 1)]))
    ids = [entry.id for entry in SOURCE.newest(reader, LogFilter(SCENE), Window(5), "m", 0)]
    assert ids == ["b", "b", "a", "a", "c", "c"]
    before = Window(5, before=cursors.encode("m", (0, "z")))
    assert [entry.id for entry in SOURCE.newest(reader, LogFilter(SCENE), before, "m", 0)][:2] == ["c", "c"]
    with pytest.raises(BadCursor):
        SOURCE.newest(reader, LogFilter(SCENE), Window(5, after="broken"), "m", 0)


def test_what_is_counted_ends_at_the_most() -> None:
    reader = Recorder([(str(number), number) for number in range(70)])
    assert SOURCE.count(cast(Reader, reader), LogFilter(SCENE), 0) == 100
    assert [params["most"] for _, params in reader.asked] == [100, 30]
    assert SOURCE.count(cast(Reader, Recorder()), LogFilter(SCENE), 0) == 0
