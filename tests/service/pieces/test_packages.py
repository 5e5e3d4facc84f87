"""What a package may be called, and what stands for what.

The files of a package: bounded, without links, and told apart by one digest.
"""

import os
from pathlib import Path

import pytest

from webapp.errors import Invalid
from webapp.service.pieces import packages
from webapp.service.pieces.packages import Places, Wanted


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("slack", Wanted("@activepieces/piece-slack")),
        (" Slack@0.17.9 ", Wanted("@activepieces/piece-slack", "0.17.9")),
        ("piece-google-sheets", Wanted("@activepieces/piece-google-sheets")),
        ("@activepieces/piece-slack@1.0.0", Wanted("@activepieces/piece-slack", "1.0.0")),
        ("@acme/shop", Wanted("@acme/shop")),
        ("acme-piece-shop", Wanted("acme-piece-shop")),
    ],
)
def test_a_name_stands_for_a_package(typed: str, wanted: Wanted) -> None:
    assert packages.parse(typed) == wanted


@pytest.mark.parametrize(
    "typed",
    [
        "", "https://example.com/x.tgz", "git+ssh://git@example.com/x", "github:acme/x", "acme/x", "../x", "@/x",
        "@acme/../x", "slack@latest", "slack@^1.0.0", "slack@1.0.0-beta.1", "slack@file:../x", "--registry", "x" * 200,
        "npm:slack", "slack slack", "@acme/x/y", "slack@1.0", "slack@",
    ],
)  # fmt: skip
def test_anything_else_is_refused(typed: str) -> None:
    with pytest.raises(Invalid):
        packages.parse(typed)


def test_later_versions_are_newer_and_each_is_newer_than_none() -> None:
    assert packages.newer("0.10.0", "0.9.9")
    assert packages.newer("0.1.0", "")
    assert not packages.newer("1.0.0", "1.0.0")
    assert not packages.newer("", "1.0.0")


def test_each_package_has_a_folder_of_its_own() -> None:
    names = ["@activepieces/piece-x", "@acme/piece-x", "piece-x"]
    assert [packages.folder(name) for name in names] == ["piece-x", "acme--piece-x", "unscoped--piece-x"]
    place = Places(Path("/data")).package("piece-x", "1.0.0")
    assert place == Path("/data/pieces/packages/piece-x/1.0.0")
    assert packages.title("@activepieces/piece-google-sheets") == "Google Sheets"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a.js").write_text("1")
    (folder / "b.js").write_text("22")
    return folder


def test_a_fair_tree_has_a_size(tree: Path) -> None:
    assert packages.check(tree, 1) == packages.size(tree) == 3


def test_links_are_refused(tree: Path) -> None:
    (tree / "out").symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="out, which is neither"):
        packages.check(tree, 1)


def test_large_ones_and_those_of_many_files_are_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tree / "large").open("wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(Invalid, match="PATCHBAY_PIECE_MB"):
        packages.check(tree, 1)
    monkeypatch.setattr(packages, "MOST_FILES", 1)
    with pytest.raises(Invalid, match="more than 1 files"):
        packages.check(tree, 10)


def test_the_digest_changes_with_names_contents_and_links(tree: Path) -> None:
    digests = [packages.digest(tree)]
    for change in (
        lambda: (tree / "b.js").write_text("23"),
        lambda: (tree / "b.js").rename(tree / "c.js"),
        lambda: (tree / "out").symlink_to("/etc/passwd"),
        lambda: packages.remove(tree),
    ):
        change()
        digests.append(packages.digest(tree))
    assert len(set(digests)) == 5
    assert digests[-1] == ""


def test_sealed_files_cannot_be_written_by_mistake(tree: Path) -> None:
    packages.seal(tree)
    assert (tree / "b.js").stat().st_mode & 0o777 == 0o444


def test_an_authors_changes_are_seen_and_those_of_npm_are_not(tree: Path) -> None:
    for path in (tree / "inner" / "a.js", tree / "b.js"):
        os.utime(path, (1_000, 1_000))
    (tree / "node_modules").mkdir()
    (tree / "node_modules" / "x.js").write_text("x")
    assert packages.changed_at(tree) == 1_000_000
    os.utime(tree / "inner" / "a.js", (1_001, 1_001))
    assert packages.changed_at(tree) == 1_001_000
