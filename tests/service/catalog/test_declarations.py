"""What components declare: a file that cannot be loaded is a problem, a runner that is away is no verdict.

Components that are data: read in place, never by a runner.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.service.components.pieces import samples
from webapp.errors import Unavailable
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.declarations import declared, examine, faults, is_data
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.calls import Call, ErrorInfo, Reply

FACTS: dict[str, Any] = {
    "kind": "action", "name": "Do it", "description": "Does it.", "app": None, "configurable_props": [],
    "annotations": {}, "has_reload": False, "dedupe": None, "hooks": [], "stash": None, "problems": [],
    "aliases": [], "prop_aliases": {},
}  # fmt: skip


def component(name: str = "do-it", kind: Any = "action", root: Path = BUILT_IN) -> Component:
    return Component(f"acme-{name}", "1.0.0", kind, "acme", f"acme/actions/{name}/1.0.0.py", root)


def reply(**changes: Any) -> Reply:
    return Reply({**FACTS, **changes})


def failed(kind: Any) -> Reply:
    return Reply(None, error=ErrorInfo(kind, "LoadError", "It holds no component."))


def test_what_is_declared_becomes_a_row() -> None:
    found, problems = declared([component()], lambda _: reply(), {})
    assert problems == []
    row = found[0].row(BUILT_IN, {})
    assert (row["key"], row["kind"], row["name"], row["root"]) == ("acme-do-it", "action", "Do it", None)


def test_a_folder_of_the_operators_is_found_from_beside_the_catalog(tmp_path: Path) -> None:
    (own,), _ = declared([component(root=tmp_path / "data" / "apps")], lambda _: reply(), {})
    assert own.row(tmp_path / "data", {})["root"] == "apps"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (failed("exception"), "It holds no component."),
        (reply(kind="source"), "it holds a trigger, but stands in the folder of actions."),
        (reply(name=""), "it has no name; say what it is called."),
        (reply(description=None), "its description must be text."),
    ],
)
def test_what_is_wrong_is_reported_and_left_out_and_the_rest_continues(answer: Reply, sentence: str) -> None:
    def declare(call: Call) -> Reply:
        return answer if "broken" in call.path else reply()

    found, problems = declared([component("broken"), component()], declare, {})
    assert problems == [f"acme/actions/broken/1.0.0.py: {sentence}"]
    assert [one.component.key for one in found] == ["acme-do-it"]
    assert faults([component("broken")], declare) == problems


def test_a_runner_that_is_away_says_nothing_of_a_component() -> None:
    for judge in (partial(declared, known={}), faults):
        with pytest.raises(Unavailable, match="The catalog cannot be built"):
            judge([component()], lambda _: failed("runner"))


def test_the_author_hears_what_the_checker_says_once() -> None:
    said = faults([component()], lambda _: reply(name="", problems=["it is odd.", "it is odd."]))
    assert [sentence.partition(": ")[2] for sentence in said] == [
        "it has no name; say what it is called.",
        "it is odd.",
    ]


def test_a_component_that_is_data_needs_no_runner(tmp_path: Path) -> None:
    file = tmp_path / "acme" / "actions" / "say.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        'name = "Say"\nversion = "1.0.0"\ndescription = "Says."\nhints = "reads"\nsummary = "Said"\n'
        '[request]\nurl = "https://example.com/"\n'
    )
    say = Component("acme-say", "1.0.0", "action", "acme", "acme/actions/say.toml", tmp_path)
    away = failed("runner")
    (row,), problems = declared([say], lambda _: away, {})
    assert (row.facts["name"], row.kind, problems) == ("Say", "action", [])
    assert declared([say], lambda _: away, {row.mark: row.facts | {"name": "Kept"}})[0][0].facts["name"] == "Kept"

    file.write_text(file.read_text().replace("summary", "sumary"))
    say = replace(say, digest="another")
    told = [
        "acme/actions/say.toml: line 1: summary: it is missing.",
        "acme/actions/say.toml: line 5: sumary: nothing is called so here; check its spelling.",
    ]
    assert declared([say], lambda _: away, {row.mark: row.facts}) == ([], told)
    assert faults([say], lambda _: away) == told


def component_of(file: Path) -> Component:
    root = file.parents[3]
    return Component("acme-add-task", "0.2.0", "action", "acme", file.relative_to(root).as_posix(), root)


def never(call: Call) -> Reply:
    raise AssertionError(call.path)


def test_the_part_of_a_piece_declares_from_its_file_only(tmp_path: Path) -> None:
    part = component_of(samples.write(tmp_path))
    assert is_data(part)
    assert examine(part) == (samples.DECLARATION, [])
    (read,), problems = declared([part], never, {})
    assert problems == []
    row = read.row(tmp_path, {})
    assert (row["key"], row["kind"], row["name"], row["root"]) == (
        "acme-add-task",
        "action",
        "Add a task",
        "pieces/apps",
    )


def test_one_that_is_broken_is_a_problem_and_the_rest_continues(tmp_path: Path) -> None:
    part = component_of(samples.write(tmp_path, kind="flow"))
    read, problems = declared([part], never, {})
    assert read == []
    assert problems[0].startswith("acme/actions/add-task/0.2.0.json: It is no component of a piece: piece.kind")
