"""URLs that change with their content, a style sheet with its imports in it, and what tells that a file was edited."""

import re
from pathlib import Path

import pytest

from webapp.kit import assets


def test_asset_url_changes_with_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "static_dir", lambda: tmp_path)
    (tmp_path / "a.css").write_text("a{}")
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    first = assets.asset_url("a.css")
    (tmp_path / "a.css").write_text("a{color:red}")
    assert assets.cache_control("a.css", first[-12:]) == "no-cache", "what the URL of a second ago stands for changed"
    now[0] += 1
    second = assets.asset_url("a.css")
    assert re.fullmatch(r"/static/a\.css\?v=[0-9a-f]{12}", first)
    assert first != second
    assert assets.asset_url("absent.css") == "/static/absent.css"
    assert assets.asset_url("vendor/x-1.js", "/s") == "/s/vendor/x-1.js"


def test_only_versioned_files_are_immutable() -> None:
    version = assets.content_hash("css/patchbay.css")
    assert assets.cache_control("css/patchbay.css", version).endswith("immutable")
    assert assets.cache_control("css/patchbay.css", "000000000000") == "no-cache"
    assert assets.cache_control("css/patchbay.css", None) == "no-cache"
    assert assets.cache_control("vendor/htmx-4.0.1.min.js", None).endswith("immutable")


def test_imports_are_replaced_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "a.css").write_text("a{}\n")
    (tmp_path / "part" / "b.css").write_text("b{}\n")
    sheet = tmp_path / "part.css"
    sheet.write_text('@layer x;\n@import "part/b.css";\n@import "part/a.css";\nc{}\n')
    before = assets.state(sheet)
    assert assets.joined(sheet) == b"@layer x;\nb{}\na{}\nc{}\n"
    (tmp_path / "part" / "a.css").write_text("a{color:red}\n")
    assert assets.state(sheet) != before


def test_a_script_is_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('const css = `\n@import "b.css";\n`;\n')
    assert assets.joined(tmp_path / "a.js") == (tmp_path / "a.js").read_bytes()


def test_every_file_is_imported_once_and_names_no_other() -> None:
    folder = assets.static_dir() / "css"
    parts = sorted(folder.glob("*/*.css"))
    named = [line.split('"')[1] for sheet in folder.glob("*.css") for line in sheet.read_text().splitlines()
             if line.startswith("@import")]  # fmt: skip
    assert sorted(named) == [str(part.relative_to(folder)) for part in parts]
    assert not [part for part in parts if "@import" in part.read_text() or 'url("..' in part.read_text()]


def test_files_are_looked_at_once_a_second_for_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    now = [200.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def look(path: str) -> str:
        looks.append(path)
        return "0" * 12

    monkeypatch.setattr(assets, "content_hash", look)
    for now[0] in (200.0, 200.5, 200.9, 201.0):
        assets.asset_url("css/looked-at.css")
    assert len(looks) == 2
