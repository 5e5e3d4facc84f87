"""The files of a package: bounded, without links, and told apart by one digest."""

import os
from pathlib import Path

import pytest

from webapp.errors import Invalid
from webapp.service.pieces import package_trees


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a.js").write_text("1")
    (folder / "b.js").write_text("22")
    return folder


def test_a_fair_tree_has_a_size(tree: Path) -> None:
    assert package_trees.check(tree, 1) == package_trees.size(tree) == 3


def test_links_are_refused(tree: Path) -> None:
    (tree / "out").symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="out, which is neither"):
        package_trees.check(tree, 1)


def test_large_ones_and_those_of_many_files_are_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tree / "large").open("wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(Invalid, match="PATCHBAY_PIECE_MB"):
        package_trees.check(tree, 1)
    monkeypatch.setattr(package_trees, "MOST_FILES", 1)
    with pytest.raises(Invalid, match="more than 1 files"):
        package_trees.check(tree, 10)


def test_the_digest_changes_with_names_contents_and_links(tree: Path) -> None:
    digests = [package_trees.digest(tree)]
    for change in (
        lambda: (tree / "b.js").write_text("23"),
        lambda: (tree / "b.js").rename(tree / "c.js"),
        lambda: (tree / "out").symlink_to("/etc/passwd"),
        lambda: package_trees.remove(tree),
    ):
        change()
        digests.append(package_trees.digest(tree))
    assert len(set(digests)) == 5
    assert digests[-1] == ""


def test_sealed_files_cannot_be_written_by_mistake(tree: Path) -> None:
    package_trees.seal(tree)
    assert (tree / "b.js").stat().st_mode & 0o777 == 0o444


def test_an_authors_changes_are_seen_and_those_of_npm_are_not(tree: Path) -> None:
    for path in (tree / "inner" / "a.js", tree / "b.js"):
        os.utime(path, (1_000, 1_000))
    (tree / "node_modules").mkdir()
    (tree / "node_modules" / "x.js").write_text("x")
    assert package_trees.changed_at(tree) == 1_000_000
    os.utime(tree / "inner" / "a.js", (1_001, 1_001))
    assert package_trees.changed_at(tree) == 1_001_000
