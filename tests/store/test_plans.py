"""Lists and counts find their rows by an index, in order: their work depends on what they find, not on what there is.

The work is counted in steps of SQLite's virtual machine, so that it is the same on every machine.
"""

import inspect
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.store.lists import LISTS, NOW, PAGE, SCENE, USER, List, filled
from webapp.kit.cursors import Window
from webapp.people import invitations, users
from webapp.service.domain.access import custom_limits, oauth_clients
from webapp.service.domain.logs import logs
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.log_entries import LogFilter
from webapp.store.contract import Reader
from webapp.store.sqlite import SQLiteStore, connect

FEW, MANY = 200, 20_000
_PARTS = ("SCAN part", "SCAN CONSTANT ROW")
ROOT = Path(__file__).parent.parent.parent
WHOLE = {users.page, invitations.page, custom_limits.page, oauth_clients.page, projects.page}
"""They list a whole table of the installation, which people fill by hand: no row of it is another's."""
SORTED = {
    "triggers of an account": "an account has few, and they are found by it",
    "workflows of an environment": "there are at most workflows.MOST, and an index finds them",
}
"""Lists that are sorted once their rows are found, and why that does not last."""


def paging() -> set[Callable[..., object]]:
    """Every function of a module that takes a window of cursors, but for what only its own module calls."""
    files = (file for file in (ROOT / "webapp").rglob("*.py") if "cursors.Window" in file.read_text("utf-8"))
    modules = [import_module(".".join(file.relative_to(ROOT).with_suffix("").parts)) for file in files]
    return {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
        if Window in inspect.get_annotations(function).values()
    }


def test_no_list_is_left_out(few: SQLiteStore) -> None:
    """Whichever function pages by cursors is called by a list of ``lists.py``, whose plans are looked at below."""
    called = set[CodeType]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for listed in LISTS.values():
            listed(few)
    finally:
        sys.setprofile(before)
    functions = paging()
    assert len(functions) > 15 and functions > WHOLE
    left_out = functions - {function for function in functions if function.__code__ in called}
    assert left_out == WHOLE


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
        plans = [list(connection.execute(f"EXPLAIN QUERY PLAN {sql}")) for sql in statements]
    assert statements
    steps = [step for plan in plans for step in _without_index(plan)]
    assert steps == (["USE TEMP B-TREE FOR ORDER BY"] if name in SORTED else [])


def _without_index(plan: Sequence[tuple[int, int, int, str]]) -> list[str]:
    """The steps that read a whole table, or sort one; a limited part has no more rows than a page."""
    of_part = {parent for _, parent, _, step in plan if step.startswith(_PARTS)}
    scans = [step for _, _, _, step in plan if step.startswith("SCAN") and not step.startswith(_PARTS)]
    return scans + [step for _, parent, _, step in plan if "TEMP B-TREE" in step and parent not in of_part]


@pytest.mark.parametrize("name", LISTS)
def test_a_hundred_times_the_rows_cost_no_more_steps(few: SQLiteStore, many: SQLiteStore, name: str) -> None:
    assert _steps(many, LISTS[name]) <= 1.3 * _steps(few, LISTS[name])


@pytest.mark.parametrize("entry_id", ["dc_other", "apn_other"])
def test_whoever_asks_for_another_s_trigger_or_account_has_none_of_its_rows_read(
    few: SQLiteStore, many: SQLiteStore, entry_id: str
) -> None:
    stranger = LogFilter(SCENE, external_id="wanted", user_id=USER.id)

    def listed(reader: Reader) -> object:
        page = logs.page(reader, NOW, stranger, PAGE, entry_id=entry_id)
        assert page.entries == []
        return page

    assert _steps(many, listed) <= 1.3 * _steps(few, listed)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    with closing(filled(tmp_path_factory.mktemp("few") / "patchbay.db", FEW)) as store:
        yield store


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    with closing(filled(tmp_path_factory.mktemp("many") / "patchbay.db", MANY)) as store:
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
