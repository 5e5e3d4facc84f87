"""The fingerprint changes with each byte of a source, and with nothing else."""

from pathlib import Path

import pytest

from tests.service.catalog.facts.samples import write, write_two_apps
from webapp.service.catalog.reading.fingerprints import fingerprint
from webapp.service.catalog.sources import Places


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two apps, one with a component, and the categories."""
    return write_two_apps(tmp_path)


def test_the_fingerprint_changes_exactly_with_the_sources(folder: Path) -> None:
    before = fingerprint(Places(built_in=folder))
    write(folder / "acme" / "notes.txt", "no source")
    assert fingerprint(Places(built_in=folder)) == before
    seen = {before}
    for path, text in (("acme/actions/do-it/1.0.0.py", "2"), ("acme/actions/do-it/shared.py", ""), ("a/app.toml", "")):
        write(folder / path, text)
        seen.add(fingerprint(Places(built_in=folder)))
    assert len(seen) == 4


def test_the_fingerprint_minds_names_and_folders_and_no_link_to_nowhere(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own components"
    places = Places(built_in=folder, components=own)
    before = fingerprint(places)
    assert fingerprint(Places(built_in=folder)) == before, "a folder that is missing is an empty one"
    (folder / "acme" / "actions" / "do-it" / ".#1.0.0.py").symlink_to("nobody@here.1")
    assert fingerprint(places) == before
    write(own / "mine" / "0.0.1.py", "1")
    seen = {before, fingerprint(places)}
    (own / "mine").rename(own / "yours")
    seen.add(fingerprint(places))
    (folder / "acme" / "actions" / "do-it").rename(folder / "acme" / "actions" / "do-that")
    seen.add(fingerprint(places))
    assert len(seen) == 4


def test_it_covers_the_components_of_pieces_and_no_other_json(folder: Path, tmp_path: Path) -> None:
    pieces = tmp_path / "pieces" / "apps"
    places = Places(built_in=folder, pieces=pieces)
    write(pieces / "acme" / "app.toml", 'joins = "acme"')
    seen = {fingerprint(places)}
    write(pieces / "acme" / "actions" / "do-more" / "1.0.0.json", "{}")
    seen.add(fingerprint(places))
    write(folder / "acme" / "import.json", "{}")
    seen.add(fingerprint(places))
    assert len(seen) == 2
