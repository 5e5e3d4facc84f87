"""Loading by path in isolation; the declarations themselves are in test_child.py."""

from collections.abc import Callable
from pathlib import Path

import pytest

from webapp.service.components.errors import LoadError
from webapp.service.components.loader import load, props_of

SOURCE = """
from webapp.service.components.authoring import Action, string
from ..common import VALUE
class Base(Action):
    first = string(label="First")
class Thing(Base):
    second = string(label="Second")
    description_ = string(label="Description")
    value = VALUE
"""


def test_props_come_in_order_the_inherited_ones_first(write: Callable[..., Path]) -> None:
    write("VALUE = 1", "common.py")
    with pytest.raises(LoadError, match="it holds 2"):
        load(write(SOURCE))
    found = load(
        write(SOURCE.replace("class Base(Action)", "class Base").replace("Thing(Base)", "Thing(Base, Action)"))
    )
    assert list(props_of(found)) == ["second", "description"]


def test_two_loads_of_one_file_never_meet(write: Callable[..., Path]) -> None:
    write("VALUE = []", "common.py")
    path = write(SOURCE.replace("class Base(Action)", "class Base").replace("Thing(Base)", "Thing(Base, Action)"))
    one, other = load(path), load(path)
    assert one is not other
    assert one.value is not other.value  # type: ignore[attr-defined]  # its own common.py too


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"There is no component file a/1\.0\.0\.py"):
        load(tmp_path / "a" / "1.0.0.py")
