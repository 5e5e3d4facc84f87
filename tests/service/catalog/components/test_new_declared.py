"""What the manual promises of components without code: every example in it is sound, and runs."""

import hmac
import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import mcp_server
from tests.service.catalog.components.action_harness import ActionHarness
from tests.service.catalog.components.providers.app_harness import FakeAnswer, Provider, serving
from tests.service.catalog.components.test_new_action import MANUAL, Elsewhere
from tests.service.catalog.components.test_sandbox import Action, action, served
from tests.service.catalog.components.trigger_harness import TriggerHarness
from webapp.service.catalog import build, registry_keys
from webapp.service.catalog.source_files import TomlFiles, look
from webapp.service.catalog.sources import BUILT_IN, Places
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.declared.definition import examine
from webapp.service.components.declared.filters import FILTERS
from webapp.service.components.executor import Executor

__all__ = ["action", "served"]  # fixtures

BLOCKS = [block for block in re.findall(r"```toml\n(.*?)```", MANUAL, re.DOTALL) if "[[calls]]" not in block]
WHOLE = next(block for block in BLOCKS if block.startswith('name = "Rename task"'))
SHARED = next(block for block in BLOCKS if block.startswith("# shared.toml"))
TRIGGERS = [block for block in BLOCKS if "[poll]" in block or "[webhook]" in block]
REGISTRY = next(block for block in BLOCKS if block.startswith("# registry.toml"))
INNER = "[poll.inner]"
PARTS = [
    block
    for block in BLOCKS
    if not block.startswith(("name = ", "# shared.toml", "# registry.toml", "[[webhook.", INNER))
]
OF_WEBHOOKS = [block for block in BLOCKS if block.startswith("[[webhook.")]
TEST = re.search(r"```python\n(def test_rename_task.*?)```", MANUAL, re.DOTALL)
HEAD = 'name = "Do it"\nversion = "0.0.1"\ndescription = "Does it."\nhints = "reads"\nsummary = "Did it"\n'
ACCOUNT = '[props.account]\ntype = "app"\napp = "tiny"\n'
ROW = {"state": "open", "id": 1, "title": "Tea", "created_at": "2030-01-01T00:00:00Z"}
ANSWER: dict[str, Any] = {
    "id": 1, "next_sync_token": "t",
    "results": [ROW], "note": {"id": 1, "words": ["a"], "url": "/n"}, "ok": True, "version": 2,
    "columns": [{"id": "a-b", "type": "choice", "name": "A", "choices": ["x"]}, {"id": "c", "type": "?", "name": "C"}],
}  # fmt: skip


def test_the_new_file_is_all_it_takes(tmp_path: Path, action: Action, runner: Executor) -> None:
    assert TEST
    shutil.copytree(BUILT_IN / "sandbox", tmp_path / "apps" / "sandbox")
    shutil.copy(BUILT_IN / "categories.toml", tmp_path / "apps")
    (tmp_path / "apps" / "sandbox" / "actions" / "rename-task.toml").write_text(WHOLE, "utf-8")
    report = build.build(tmp_path / "catalog.db", Places(built_in=tmp_path / "apps"), declare=runner.call)
    assert report.problems == ()

    def copied(name: str) -> ActionHarness:
        shipped = action(name)
        if name != "rename-task":
            return shipped
        copy = Elsewhere(shipped.runner, shipped.app, name, shipped.origin, shipped.fields)
        object.__setattr__(copy, "folder", tmp_path / "apps")
        return copy

    space: dict[str, Any] = {"Action": Action}
    exec(TEST[1], space)
    space["test_rename_task"](copied)


@pytest.fixture
def host() -> Iterator[str]:
    provider = Provider("", {}, {})
    provider.answer = lambda asked: _said(asked.what)  # type: ignore[method-assign]
    with serving(provider) as address:
        yield address


@pytest.fixture
def mcp_host() -> Iterator[str]:
    with mcp_server.serving() as server:
        yield server.host


def _said(what: str) -> Any:
    return FakeAnswer(200, [{"id": "7", "title": "Seven"}] if what == "GET /notes" else ANSWER)


def test_the_example_of_a_key_of_the_registry_is_read(tmp_path: Path) -> None:
    (tmp_path / registry_keys.FILE).write_text(REGISTRY)
    (name, key), *_ = registry_keys.load(tmp_path, look(tmp_path).digest_of(registry_keys.FILE), TomlFiles()).items()
    assert (name, key.component) == ("create-note", "send-note")
    assert key.props == {"noteTags": "tags", "noteBody": "text", "siteId": registry_keys.UNUSED}


@pytest.mark.parametrize("part", PARTS, ids=range(len(PARTS)))
def test_each_example_runs(tmp_path: Path, runner: Executor, host: str, mcp_host: str, part: str) -> None:
    path = tmp_path / "tiny" / "actions" / "do-it.toml"
    path.parent.mkdir(parents=True)
    (tmp_path / "tiny" / "shared.toml").write_text(SHARED)
    first, _, rest = f"\n{part}".partition("\n[")
    path.write_text(f"{HEAD}{first}\n{ACCOUNT}[{rest}")
    assert examine(path)[1] == []

    host = mcp_host if "[tool]" in part else host
    grant = AccountGrant(base_url=f"http://{host}", allowed_hosts=(host,))
    values = {
        "name": "tea", "photo": "a.png", "table": "t", "note": "7", "column_a_2db": "x", "column_c": "y",
        "query": "tea",
    }  # fmt: skip
    given = {name: values[name] for name in (*tomllib.loads(part).get("props", {}), "column_a_2db") if name in values}
    call = Call(str(path), props=given, accounts={"account": grant}, allow_hosts=(host,), files={"a.png": "UE5H"})
    reply = runner.call(call)
    assert reply.error is None, reply.error


@pytest.mark.parametrize("text", TRIGGERS, ids=range(len(TRIGGERS)))
def test_each_trigger_runs(tmp_path: Path, runner: Executor, host: str, text: str) -> None:
    path = tmp_path / "tiny" / "triggers" / "do-it.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert examine(path)[1] == []
    grant = AccountGrant(base_url=f"http://{host}", allowed_hosts=(host,))
    trigger = TriggerHarness(runner, path, {}, {"account": grant}, (host,))
    if "[poll]" in text:
        assert len(trigger.deploy()) == 1
        if "[push]" in text:
            trigger.activate()
            for method in ("renew", "renew", "deactivate"):
                assert trigger.call(method).ok
            assert trigger.state["hook"] is None
        return
    trigger.activate()
    assert trigger.state["hook"] == "1"
    note = {"action": "created", "note": {"title": "Tea"}}
    digest = hmac.new(trigger.state["secret"].encode(), json.dumps(note).encode(), "sha256").hexdigest()
    headers = {"X-Event": "note", "X-Delivery": "d1", "X-Signature": f"sha256={digest}"}
    assert [(event.id, event.event) for event in trigger.receive(note, headers).events] == [("d1", {"title": "Tea"})]
    trigger.deactivate()


@pytest.mark.parametrize("part", OF_WEBHOOKS, ids=range(len(OF_WEBHOOKS)))
def test_each_part_of_a_webhook_is_sound(tmp_path: Path, part: str) -> None:
    path = tmp_path / "tiny" / "triggers" / "do-it.toml"
    path.parent.mkdir(parents=True)
    path.write_text(next(text for text in TRIGGERS if "[webhook]" in text) + part)
    assert examine(path)[1] == []


def test_a_list_of_each_polled_item_is_taken(tmp_path: Path) -> None:
    (part,) = (block for block in BLOCKS if block.startswith(INNER))
    path = tmp_path / "tiny" / "triggers" / "do-it.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f"{next(text for text in TRIGGERS if '[poll]' in text)}\n{part}")
    assert examine(path)[1] == []
    path.write_text(path.read_text().replace('changed = "{$item.fields.updated|ms}"\n', ""))
    assert examine(path)[1] != []


def test_the_filters_are_those_that_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([A-Z][^|]*) \|$", MANUAL, re.MULTILINE)
    assert {name: meaning.lower() for name, meaning in rows if name in FILTERS} == {
        name: known.meaning.lower() for name, known in FILTERS.items()
    }
