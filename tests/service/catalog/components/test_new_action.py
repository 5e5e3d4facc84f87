"""What the manual promises: a new action of an app that stands is one new file and its test, and nothing else."""

import re
import shutil
from pathlib import Path
from typing import Any

from tests.service.catalog.components.action_harness import ActionHarness, component_file
from tests.service.catalog.components.test_sandbox import Action, action, served
from webapp.service.catalog import build
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import BUILT_IN, Places
from webapp.service.components.executor import Executor

__all__ = ["action", "served"]  # fixtures

MANUAL = (Path(__file__).parents[4] / "templates" / "docs" / "components.md").read_text("utf-8")
FILE = re.search(r"`webapp/service/catalog/apps/(sandbox/actions/count-tasks/0\.0\.1\.py)`", MANUAL)
EXAMPLE, TEST = (
    re.search(rf"```python\n((?:(?!```).)*?{mark}.*?)```", MANUAL, re.DOTALL)
    for mark in ("class CountTasks", "def test_count_tasks")
)


class Elsewhere(ActionHarness):
    """An action of a copy of the catalog."""

    folder: Path

    @property
    def path(self) -> Path:
        return component_file(self.app, "actions", self.name, self.version, self.folder)


def test_the_new_file_is_all_it_takes(tmp_path: Path, action: Action, runner: Executor) -> None:
    assert FILE and EXAMPLE and TEST
    shutil.copytree(BUILT_IN / "sandbox", tmp_path / "apps" / "sandbox")
    shutil.copy(BUILT_IN / "categories.toml", tmp_path / "apps")
    file = tmp_path / "apps" / FILE[1]
    file.parent.mkdir()
    file.write_text(EXAMPLE[1], "utf-8")

    report = build.build(tmp_path / "catalog.db", Places(built_in=tmp_path / "apps"), declare=runner.call)
    assert report.problems == ()
    catalog = Catalog.open(
        tmp_path / "catalog.db", public_url="http://localhost", variables={"sandbox": "http://localhost:1"}
    )
    listed = catalog.component("sandbox-count-tasks")
    catalog.close()
    assert listed is not None and listed.name == "Count tasks"

    def copied(name: str) -> ActionHarness:
        found = action(name)
        made = Elsewhere(found.runner, found.app, found.name, found.origin, found.fields)
        object.__setattr__(made, "folder", tmp_path / "apps")
        return made

    space: dict[str, Any] = {"Action": Action}
    exec(TEST[1], space)
    space["test_count_tasks"](copied)
