"""What a build reads of each file, once: what it depends on changes its digest, and nothing else does."""

import tomllib
from pathlib import Path

import pytest

from tests.service.catalog.samples import write
from webapp.service.catalog.component_files import components
from webapp.service.catalog.source_files import OF_PIECES, TomlFiles, look

SAY = 'version = "1.0.0"\n'
HEAR = 'version = "1.0.0"\nlike = "globex/actions/hear"\n'


def digests(root: Path) -> dict[str, str]:
    """By the path of each component of the app acme: on what its declaration depends."""
    return {each.path.removeprefix("acme/actions/"): each.digest for each in components(look(root), "acme", "acme", [])}


@pytest.mark.parametrize(
    ("place", "text", "changed"),
    [
        ("acme/actions/say.toml", SAY + "#", {"say.toml", "hear.toml"}),
        ("acme/shared.toml", "", {"say.toml", "hear.toml"}),
        ("acme/actions/hear.toml", HEAR + "#", {"hear.toml"}),
        ("globex/actions/hear.toml", SAY + "#", {"hear.toml"}),
        ("acme/common.py", "A = 1", {"hear.toml", "do/1.0.0.py"}),
        ("acme/actions/do/1.0.0.py", "A = 2", {"hear.toml", "do/1.0.0.py"}),
        ("acme/notes.txt", "", set()),
    ],
)
def test_a_component_depends_on_what_it_may_read(tmp_path: Path, place: str, text: str, changed: set[str]) -> None:
    write(tmp_path / "acme" / "actions" / "say.toml", SAY)
    write(tmp_path / "acme" / "actions" / "hear.toml", HEAR)
    write(tmp_path / "acme" / "actions" / "do" / "1.0.0.py", "")
    write(tmp_path / "globex" / "actions" / "hear.toml", SAY)  # no app.toml is needed to be inherited from
    before = digests(tmp_path)
    write(tmp_path / place, text)
    after = digests(tmp_path)
    assert {path for path in before if before[path] != after[path]} == changed


def test_links_to_folders_of_apps_and_components_are_followed_and_a_loop_ends(tmp_path: Path) -> None:
    root = tmp_path / "apps"
    write(tmp_path / "elsewhere" / "app.toml", "")
    write(tmp_path / "elsewhere" / "actions" / "say.toml", SAY)
    root.mkdir()
    (root / "acme").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "triggers").symlink_to(root)
    found = look(root)
    assert (list(found.apps), len(found.files) < 100) == (["acme"], True)
    assert "acme/actions/say.toml" in [file.path for file in found.files]


def test_a_file_that_cannot_be_read_is_one_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "acme" / "actions" / "say.toml"
    write(file, SAY)
    seen = [look(tmp_path).digest]
    file.write_bytes(b"\xff")
    seen.append(look(tmp_path).digest)
    assert look(tmp_path).files[0].version == "" and len(set(seen)) == 2
    assert look(tmp_path / "none").files == look(tmp_path, OF_PIECES).of_app("other") == []


def test_toml_is_parsed_once_whatever_its_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, first = tmp_path / "app.toml", TomlFiles()
    write(file, 'read_on = 2026-11-28\nmost = inf\n[a]\nb = [1, "ü"]\n')
    digest = look(tmp_path).digest_of("app.toml")
    said = first.load(file, digest)
    again = TomlFiles(first.kept)
    with monkeypatch.context() as patched:
        patched.setattr(tomllib, "loads", None)
        assert again.load(file, digest) == said and again.kept == first.kept
    write(file, "at = 2026-11-28T10:00:00Z\n")
    late = TomlFiles(first.kept)
    assert "at" in late.load(file, look(tmp_path).digest_of("app.toml")) and late.kept == {}
    write(file, '"$date" = "never"\n')
    assert late.load(file, look(tmp_path).digest_of("app.toml")) == {"$date": "never"} and late.kept == {}


def test_what_changed_after_it_was_looked_at_is_never_kept_as_it_was(tmp_path: Path) -> None:
    file, toml = tmp_path / "app.toml", TomlFiles()
    write(file, "a = 1")
    before = look(tmp_path).digest_of("app.toml")
    write(file, "a = 2")
    assert toml.load(file, before) == {"a": 2}
    assert list(toml.kept) == [look(tmp_path).digest_of("app.toml").hex()]
