"""No request goes through more files than it has to: each of the four ways has a budget."""

from pathlib import Path

import pytest

from tests.ways import TARGETS, count


@pytest.fixture(scope="module")
def ways(built_catalog: Path) -> dict[str, list[str]]:
    """The files of each way, counted once, in processes that no other test has warmed."""
    return count(built_catalog)


@pytest.mark.parametrize("name", TARGETS)
def test_a_way_goes_through_few_files(ways: dict[str, list[str]], name: str) -> None:
    assert len(ways[name]) <= TARGETS[name], "\n".join(ways[name])
