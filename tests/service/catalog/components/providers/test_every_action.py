"""What holds for every action of the catalog: its file is in order, and it says where the provider describes it."""

import re
from pathlib import Path

import pytest

from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.checker import problems
from webapp.service.components.loader import load, props_of

ACTIONS = sorted(BUILT_IN.glob("*/actions/*/*.py"))
LINK = re.compile(r".+\. \[See the documentation\]\(https://[a-z0-9.-]+/[^) ]*\)")
OFFLINE = ("sandbox", "http", "rss", "postgresql")  # of these, none has a page of its own at a provider


def name(path: Path) -> str:
    return "/".join(path.relative_to(BUILT_IN).parts[::2])


def test_there_are_at_least_40() -> None:
    assert len(ACTIONS) >= 40


@pytest.mark.parametrize("path", ACTIONS, ids=name)
def test_it_is_in_order(path: Path) -> None:
    component = load(path)
    assert problems(component) == []
    assert next(iter(props_of(component).values())).own.get("app") in (path.parts[-4], None)
    assert "$summary" in path.read_text("utf-8")
    if path.parts[-4] not in OFFLINE:
        assert LINK.fullmatch(component.description)


@pytest.mark.parametrize("path", ACTIONS, ids=name)
def test_its_annotations_do_not_contradict_each_other(path: Path) -> None:
    hints = vars(load(path))["annotations"]
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])
    assert hints["openWorldHint"] is True
