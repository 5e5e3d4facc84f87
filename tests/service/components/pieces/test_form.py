"""The file of a component of a piece: read once, judged by its shape, and never a failure of anything else."""

from pathlib import Path

import pytest

from tests.service.components.pieces.samples import DECLARATION, write
from webapp.service.components.errors import LoadError
from webapp.service.components.pieces import form


def test_it_says_what_to_call_and_what_the_catalog_keeps(tmp_path: Path) -> None:
    file = write(tmp_path)
    read = form.read(file)
    assert (read.piece.package, read.piece.name) == ("@acme/piece-acme", "add_task")
    assert form.folder(file, read.piece) == tmp_path / "pieces" / "packages" / "piece-acme" / "0.2.0"
    assert form.examine(file) == (DECLARATION, [])
    assert form.is_piece(file)
    assert form.read(file) is read


def test_it_is_read_again_once_it_has_changed(tmp_path: Path) -> None:
    before = form.read(write(tmp_path))
    assert (
        form.read(write(tmp_path, hosts=["api.acme.example", "files.acme.example"])).piece.hosts != before.piece.hosts
    )


@pytest.mark.parametrize("changes", [{"folder": "../../etc/x"}, {"package": "../x"}, {"kind": "flow"}, {"more": 1}])
def test_what_is_wrong_with_it_is_a_sentence(tmp_path: Path, changes: dict[str, object]) -> None:
    facts, wrong = form.examine(write(tmp_path, **changes))
    assert facts is None
    assert wrong[0].startswith("It is no component of a piece: piece.")


def test_one_that_is_gone_or_is_no_json_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"0\.2\.0\.json cannot be read"):
        form.read(tmp_path / "0.2.0.json")
    file = write(tmp_path)
    file.write_text("{")
    assert "It is no component of a piece" in form.examine(file)[1][0]


@pytest.mark.parametrize("prop", [{"name": "title"}, {"name": "title", "type": "float"}, {"type": "string"}])
def test_a_prop_that_no_client_can_read_is_reported(tmp_path: Path, prop: dict[str, object]) -> None:
    file = write(tmp_path)
    file.write_text(file.read_text().replace('{"name": "title", "type": "string"}', str(prop).replace("'", '"')))
    assert form.examine(file)[0] is None
