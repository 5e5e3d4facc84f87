"""What the manual promises: a new trigger of an app that stands is one new file and its test, and nothing else."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.service.catalog.components.test_new_action import EXAMPLE, FILE, MANUAL
from tests.service.catalog.components.test_sandbox import Action, action, served
from tests.service.catalog.components.test_sandbox_triggers import OpenTrigger, watching
from tests.service.catalog.components.trigger_harness import TriggerHarness
from webapp.service.catalog import build
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import BUILT_IN, Places
from webapp.service.components.authoring import Trigger
from webapp.service.components.executor import Executor

__all__ = ["action", "served", "watching"]  # fixtures

NAME = re.search(r"`webapp/service/catalog/apps/(sandbox/triggers/task-done/0\.0\.1\.py)`", MANUAL)
SOURCE, TEST = (
    re.search(rf"```python\n((?:(?!```).)*?{mark}.*?)```", MANUAL, re.DOTALL)
    for mark in ("class TaskDone", "def test_task_done")
)


def test_the_new_file_is_all_it_takes(tmp_path: Path, watching: OpenTrigger, action: Action, runner: Executor) -> None:
    assert NAME and SOURCE and TEST
    shutil.copytree(BUILT_IN / "sandbox", tmp_path / "apps" / "sandbox")
    shutil.copy(BUILT_IN / "categories.toml", tmp_path / "apps")
    file = tmp_path / "apps" / NAME[1]
    file.parent.mkdir()
    file.write_text(SOURCE[1], "utf-8")

    report = build.build(tmp_path / "catalog.db", Places(built_in=tmp_path / "apps"), declare=runner.call)
    assert report.problems == ()
    catalog = Catalog.open(
        tmp_path / "catalog.db", public_url="http://localhost", variables={"sandbox": "http://localhost:1"}
    )
    listed = catalog.component("sandbox-task-done")
    catalog.close()
    assert listed is not None and (listed.name, listed.kind) == ("Task done", "trigger")

    def copied(name: str, **props: Any) -> TriggerHarness:
        return replace(watching(name, **props), path=file)

    space: dict[str, Any] = {"Action": Action, "OpenTrigger": OpenTrigger}
    exec(TEST[1], space)
    space["test_task_done"](copied, action)


def test_every_hook_is_named() -> None:
    hooks = {name for name in vars(Trigger) if not name.startswith("_") and callable(getattr(Trigger, name))} | {"run"}
    assert hooks == {"run", "deploy", "activate", "renew", "deactivate"}
    assert all(f"| `{name}` |" in MANUAL for name in hooks)
    assert EXAMPLE and FILE  # the action's example is still found beside it
