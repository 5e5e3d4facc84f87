"""A style sheet with its imports in it, and what tells that one of its files was edited."""

from pathlib import Path

from webapp import frontend
from webapp.kit import stylesheets


def test_imports_are_replaced_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "a.css").write_text("a{}\n")
    (tmp_path / "part" / "b.css").write_text("b{}\n")
    sheet = tmp_path / "part.css"
    sheet.write_text('@layer x;\n@import "part/b.css";\n@import "part/a.css";\nc{}\n')
    before = stylesheets.state(sheet)
    assert stylesheets.joined(sheet) == b"@layer x;\nb{}\na{}\nc{}\n"
    (tmp_path / "part" / "a.css").write_text("a{color:red}\n")
    assert stylesheets.state(sheet) != before


def test_a_script_is_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('const css = `\n@import "b.css";\n`;\n')
    assert stylesheets.joined(tmp_path / "a.js") == (tmp_path / "a.js").read_bytes()


def test_every_file_is_imported_once_and_names_no_other() -> None:
    folder = frontend.static_dir() / "css"
    parts = sorted(folder.glob("*/*.css"))
    named = [line.split('"')[1] for sheet in folder.glob("*.css") for line in sheet.read_text().splitlines()
             if line.startswith("@import")]  # fmt: skip
    assert sorted(named) == [str(part.relative_to(folder)) for part in parts]
    assert not [part for part in parts if "@import" in part.read_text() or 'url("..' in part.read_text()]
