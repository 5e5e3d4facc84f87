"""Components that are data: read in place, never by a runner."""

from pathlib import Path

from tests.service.components.pieces import samples
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.declaring import declared
from webapp.service.catalog.reading.component_data import examine, files, is_data
from webapp.service.components.calls import Call, Reply


def component(file: Path) -> Component:
    root = file.parents[3]
    return Component("acme-add-task", "0.2.0", "action", "acme", file.relative_to(root).as_posix(), root)


def never(call: Call) -> Reply:
    raise AssertionError(call.path)


def test_the_part_of_a_piece_declares_from_its_file_alone(tmp_path: Path) -> None:
    part = component(samples.write(tmp_path))
    assert is_data(part)
    assert files(part) == (part.file,)
    assert examine(part) == (samples.DECLARATION, [])
    (read,), problems = declared([part], never, {})
    assert problems == []
    row = read.row(tmp_path)
    assert (row["key"], row["kind"], row["name"], row["root"]) == (
        "acme-add-task",
        "action",
        "Add a task",
        "pieces/apps",
    )


def test_one_that_is_broken_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    part = component(samples.write(tmp_path, kind="flow"))
    read, problems = declared([part], never, {})
    assert read == []
    assert problems[0].startswith("acme/actions/add-task/0.2.0.json: It is no component of a piece: piece.kind")


def test_its_mark_changes_with_its_file(tmp_path: Path) -> None:
    part = component(samples.write(tmp_path))
    ((before,), _) = declared([part], never, {})
    samples.write(tmp_path, hosts=[])
    ((after,), _) = declared([part], never, {})
    assert before.mark != after.mark
