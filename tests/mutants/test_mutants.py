"""The mutants are in order: each belongs to a row that exists and changes a place that exists.

Whether the cited tests notice them is shown by ``make mutants``, which runs by hand.
"""

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest
from click import ClickException

from tests.every import of_every
from tests.mutants import __main__ as engine
from tests.mutants import spec_rows
from tests.mutants.mutant import Mutant, every, source_of

ALL = every()


@of_every("mutant", ALL, lambda mutant: f"{mutant.section} {mutant.row}"[:60])
def test_a_mutant_changes_one_place(mutant: Mutant) -> None:
    assert mutant.cites.tests
    assert mutant.file.startswith(("webapp/", "templates/"))
    assert mutant.mutated(source_of(mutant))


def test_a_mutant_leaves_a_program_that_names_only_what_is_there(tmp_path: Path) -> None:
    """One that cannot be parsed, or stumbles over a name that nobody defines, would be noticed by any test."""
    for number, mutant in enumerate(ALL):
        if mutant.file.endswith(".py"):
            (tmp_path / f"mutant_{number}.py").write_text(mutant.mutated(source_of(mutant)), "utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format", "concise"]
    assert subprocess.run([*command, tmp_path], capture_output=True, text=True).stdout == "All checks passed!\n"


def test_every_row_has_a_mutant() -> None:
    mutated = {mutant.cites for mutant in ALL}
    assert [(row.section, row.sentence) for row in spec_rows.rows() if row not in mutated] == []


def test_a_place_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 places"):
        Mutant("1", "x", "webapp/app.py", "no such text", "").mutated("text")


ANSWER = 'def answer():\n    return "told"\n'
TESTS = """
def test_says_told():
    from webapp import small
    assert small.answer() == "told"

def test_is_text():
    from webapp import small
    assert isinstance(small.answer(), str)
"""
FIXTURE = """import pytest

@pytest.fixture(autouse=True)
def prepared():
    from webapp import small
    small.answer()
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one module and two tests, which the only row of its table cites."""
    files = {
        "webapp/__init__.py": "",
        "webapp/small.py": ANSWER,
        "tests/test_small.py": TESTS,
        "pytest.ini": "[pytest]",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    cited = ("tests/test_small.py::test_says_told", "tests/test_small.py::test_is_text")
    monkeypatch.setattr(spec_rows, "rows", lambda: [spec_rows.Row("1", (), "Says told.", cited)])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    return tmp_path


def small_mutant(replace: str) -> Mutant:
    return Mutant("1", "Says told", "webapp/small.py", '"told"', replace)


def test_a_mutant_that_changes_nothing_survives_and_another_is_noticed_with_its_idle_tests(small: Path) -> None:
    outcomes = [engine._try(small, small_mutant(text)) for text in ('"told"', '"mute"', '"told"')]
    assert [one.outcome for one in outcomes] == ["survived", "noticed", "survived"]
    assert [one.idle for one in outcomes] == [(), ("tests/test_small.py::test_is_text",), ()]
    assert (small / "webapp/small.py").read_text("utf-8") == ANSWER


def test_a_mutant_whose_tests_cannot_be_run_is_broken(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (small / "tests" / "test_small.py").write_text("import webapp.small\n" + TESTS, "utf-8")
    assert engine._try(small, small_mutant("nothing +")).outcome == "broken"
    (small / "tests" / "test_small.py").write_text(FIXTURE + TESTS, "utf-8")
    assert engine._try(small, small_mutant("1 / 0")).outcome == "broken"
    monkeypatch.setattr(engine, "TIMEOUT_S", 0.01)
    late = engine._try(small, small_mutant('"mute"'))
    assert (late.outcome, late.output) == ("broken", "Its tests took longer than 0.01 seconds.")


def test_cited_tests_that_fail_without_a_mutation_are_refused(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SIDE_BY_SIDE", ("-n", "0"))
    engine._demand_green(small, [small_mutant('"told"')])
    engine._write(small / "webapp" / "small.py", ANSWER.replace("told", "mute"))
    with pytest.raises(ClickException, match="fail without a mutation"):
        engine._demand_green(small, [small_mutant('"told"')])


def test_what_is_written_is_what_runs_though_bytecode_of_that_second_is_there(small: Path) -> None:
    place = small / "webapp" / "small.py"
    py_compile.compile(str(place))
    written = place.stat().st_mtime_ns
    engine._write(place, ANSWER.replace("told", "mute"))
    os.utime(place, ns=(written, written))
    command = [sys.executable, "-c", "from webapp import small; print(small.answer())"]
    told = subprocess.run(
        command, cwd=small, env={**os.environ, "PYTHONPATH": str(small)}, capture_output=True, check=True
    )
    assert told.stdout == b"mute\n"
