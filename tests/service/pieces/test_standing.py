"""What of a package stands in the data folder."""

from pathlib import Path

from tests.service.components.pieces import samples
from webapp.service.pieces.standing import Standing, mark


def test_its_files_are_told_with_their_versions_and_names(tmp_path: Path) -> None:
    file = samples.write(tmp_path)
    (tmp_path / "pieces/apps/acme/app.toml").write_text(f'{mark("@acme/piece-acme")}slug = "acme"\n')
    (tmp_path / "pieces/apps/globex").mkdir()
    (tmp_path / "pieces/apps/globex/app.toml").write_text('joins = "globex"\n')
    standing = Standing.read(tmp_path, "@acme/piece-acme")
    assert standing.files == {file: "0.2.0"}
    assert standing.names("acme", "action") == {"add_task": "add-task"}
    assert standing.names("acme", "trigger") == {}
    assert standing.has_brought("acme")
    assert not standing.has_brought("globex")


def test_what_is_anothers_or_broken_is_left_out(tmp_path: Path) -> None:
    file = samples.write(tmp_path)
    assert Standing.read(tmp_path, "@globex/piece-acme").files == {}
    file.write_text("{")
    assert Standing.read(tmp_path, "@acme/piece-acme").files == {}
    assert Standing.read(tmp_path / "none", "@acme/piece-acme").brought == ()
