"""How lists grow on PostgreSQL is measured for each of them."""

from contextlib import closing

import pytest
from click.testing import CliRunner

from tests.bench.postgres.growth import growth
from tests.once import postgres as databases
from tests.store.lists import LISTS
from webapp import audit
from webapp.kit.cursors import Window
from webapp.store.postgres.store import PostgresStore


@pytest.mark.faults
def test_each_list_is_measured_and_explained() -> None:
    printed = CliRunner().invoke(growth, ["--few", "20", "--many", "40", "--requests", "1", "--explain"])
    assert printed.exit_code == 0, printed.output
    lines = [line for line in printed.output.splitlines() if " ×  " in line]
    assert {line.rpartition("ms  ")[2] for line in lines} == LISTS.keys()
    assert f"growth: {len(LISTS)} lists and counts" in printed.output


@pytest.mark.faults
def test_pages_among_many_rows_of_another_project_are_planned_once_and_read_their_own() -> None:
    """However often they are asked for, and though the server knows of one project alone, with one kind of things."""
    name = databases.new()
    with closing(PostgresStore(databases.url(name), connections=1)) as store:
        rows = (
            "INSERT INTO audit (id, at, project_id, environment, actor_kind, actor, noun, subject_id, verb, sentence) "
            "SELECT :project || n, n, :project, 'development', '', '', CASE WHEN n < 8 THEN :noun ELSE 'run' END, "
            "'', '', '' FROM generate_series(1, :count) AS n"
        )
        with store.write() as tx:
            tx.run(rows, {"project": "many", "noun": "run", "count": 50_000})
            tx.run("ANALYZE audit")
            tx.run(rows, {"project": "few", "noun": "key", "count": 14})
        for _ in range(20):
            for noun, count in ((None, 14), ("key", 7), ("run", 7)):
                chosen = audit.Filter("few", "development", noun, workspace=False)
                assert audit.page(store, chosen, Window(limit=10)).total_count == count
        plans = store.tuples(
            "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE '% AND noun = $%'"
        )
        assert len(plans) == 4 and all(custom == 5 for custom, _ in plans), plans
        store.tuples("SELECT pg_stat_force_next_flush()")
        read = dict(store.tuples("SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes WHERE relname = 'audit'"))
        assert read["audit_by_age"] == 0 and read["audit_of_noun"] > 0
        assert sum(read.values()) < 3_000, read
    databases.drop(name)
