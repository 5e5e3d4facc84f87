"""Files of an imported app: each is written once, in a version that follows the one before."""

from pathlib import Path

from webapp.service.catalog.importing.files import Files, toml, versioned


def test_a_file_is_written_only_where_it_changes(tmp_path: Path) -> None:
    files = Files(tmp_path, None)
    assert files.put("a.toml", b"x = 1\n") is True
    assert files.put("a.toml", b"x = 1\n") is False
    assert list(files.digests) == ["a.toml"]


def test_an_actions_version_stands_behind_its_name() -> None:
    assert (
        toml(versioned({"name": "A\nb", "hints": "reads"}, "0.0.2"))
        == b'name = "A\\nb"\nversion = "0.0.2"\nhints = "reads"\n'
    )
