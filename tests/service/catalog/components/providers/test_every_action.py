"""What holds for every action and trigger of the catalog: its file is in order, and says where to read about it."""

import inspect
import re
from pathlib import Path

import pytest

from tests.every import check_every, of_every
from tests.service.catalog.components.trigger_harness import TriggerHarness, logged
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.checker import problems
from webapp.service.components.declared.definition import examine
from webapp.service.components.executor import Executor
from webapp.service.components.loader import load, props_of

ACTIONS = sorted(BUILT_IN.glob("*/actions/*/*.py"))
TRIGGERS = sorted(BUILT_IN.glob("*/triggers/*/*.py"))
DECLARED = sorted([*BUILT_IN.glob("*/actions/*.toml"), *BUILT_IN.glob("*/triggers/*.toml")])
TAKES_AWAY = ("delete-", "remove-", "cancel-", "void-", "purge-")
LINK = re.compile(r".+\. \[See the documentation\]\(https://[a-z0-9.-]+/[^) ]*\)")
OFFLINE = (
    "sandbox",
    "http",
    "rss",
    "postgresql",
    "schedule",
    "email",
)  # of these, none has a page of its own at a provider


def name(path: Path) -> str:
    return "/".join(path.relative_to(BUILT_IN).parts[::2])


def test_there_are_at_least_65_actions_and_16_triggers() -> None:
    kinds = [path.parent.name for path in DECLARED]
    assert len(ACTIONS) + kinds.count("actions") >= 65
    assert len(TRIGGERS) + kinds.count("triggers") >= 16


@pytest.mark.parametrize("slug", sorted({path.parts[-3] for path in DECLARED}))
def test_those_that_are_data_are_in_order(slug: str) -> None:
    check_every([path for path in DECLARED if path.parts[-3] == slug], _is_in_order, name)


def _is_in_order(path: Path) -> None:
    facts, mistakes = examine(path)
    assert facts is not None and mistakes == []
    slug, hints = path.parts[-3], facts["annotations"]
    assert facts["app"] == slug
    assert not (hints.get("readOnlyHint") and hints.get("destructiveHint"))
    assert slug in OFFLINE or LINK.fullmatch(facts["description"])
    assert not (hints.get("spendsHint") and path.stem.startswith(TAKES_AWAY))
    assert {prop.get("label") for prop in facts["configurable_props"]}.isdisjoint({"Id", "ID", "Ids", "IDs"})


@of_every("path", [path for path in DECLARED if "[webhook]" in path.read_text("utf-8")], name)
def test_whoever_sends_requests_to_one_that_is_data_has_to_prove_it(action_runner: Executor, path: Path) -> None:
    reply = TriggerHarness(action_runner, path, {}, state={"secret": "s"}).receive({}, {})
    assert (reply.events, logged(reply).startswith("A request was ignored: its signature is not")) == ((), True)


@of_every("path", ACTIONS, name)
def test_it_is_in_order(path: Path) -> None:
    component = load(path)
    assert problems(component) == []
    assert next(iter(props_of(component).values())).own.get("app") in (path.parts[-4], None)
    assert "$summary" in inspect.getsource(component.run)
    if path.parts[-4] not in OFFLINE:
        assert LINK.fullmatch(component.description)


@of_every("path", ACTIONS, name)
def test_its_annotations_do_not_contradict_each_other(path: Path) -> None:
    hints = inspect.getattr_static(load(path), "annotations")
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])
    assert hints["openWorldHint"] is True


@of_every("path", TRIGGERS, name)
def test_a_trigger_is_in_order(path: Path) -> None:
    component = load(path)
    assert problems(component) == []
    if path.parts[-4] not in OFFLINE:
        assert LINK.fullmatch(component.description)
        assert next(iter(props_of(component).values())).own["app"] == path.parts[-4]


@of_every("path", [path for path in TRIGGERS if "http_interface" in path.read_text("utf-8")], name)
def test_whoever_sends_requests_has_to_prove_it(action_runner: Executor, path: Path) -> None:
    if path.parts[-4] == "http":
        return  # that one is for anybody's requests
    props = {"signing_secret": "s"} if path.parts[-4] == "slack" else {}
    reply = TriggerHarness(action_runner, path, props, state={"secret": "s"}).receive({}, {})
    assert (reply.events, logged(reply).startswith("A request was ignored: its signature is not")) == ((), True)
