"""What a package may be called, and what stands for what."""

from pathlib import Path

import pytest

from webapp.errors import Invalid
from webapp.service.pieces import package_names
from webapp.service.pieces.package_names import Places, Wanted


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
    assert package_names.parse(typed) == wanted


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
        package_names.parse(typed)


def test_later_versions_are_newer_and_each_is_newer_than_none() -> None:
    assert package_names.newer("0.10.0", "0.9.9")
    assert package_names.newer("0.1.0", "")
    assert not package_names.newer("1.0.0", "1.0.0")
    assert not package_names.newer("", "1.0.0")


def test_each_package_has_a_folder_of_its_own() -> None:
    names = ["@activepieces/piece-x", "@acme/piece-x", "piece-x"]
    assert [package_names.folder(name) for name in names] == ["piece-x", "acme--piece-x", "unscoped--piece-x"]
    place = Places(Path("/data")).package("piece-x", "1.0.0")
    assert place == Path("/data/pieces/packages/piece-x/1.0.0")
    assert package_names.title("@activepieces/piece-google-sheets") == "Google Sheets"
