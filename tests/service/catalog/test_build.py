"""Building is deterministic, whole or not at all, and done again exactly when a source changed."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.catalog.samples import KEYS, OAUTH, bare
from webapp.service.catalog import build as building
from webapp.service.catalog.build import build, ensure
from webapp.service.catalog.index import Catalog

Declare = Callable[[str, str], Path]


def dump(path: Path) -> list[str]:
    """Everything in the database at ``path``."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_same_sources_give_the_same_catalog(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("globex", OAUTH)
    declare("acme", KEYS)
    first = build(tmp_path / "one.db", built_in=folder)
    moved = tmp_path / "elsewhere"
    folder.rename(moved)
    second = build(tmp_path / "two.db", built_in=moved)
    assert first == second
    assert (first.apps, first.problems, first.built) == (2, (), True)
    assert dump(tmp_path / "one.db") == dump(tmp_path / "two.db")


def test_ensure_builds_only_when_something_changed(folder: Path, declare: Declare, tmp_path: Path) -> None:
    target, own = tmp_path / "data" / "catalog.db", tmp_path / "own"
    file = declare("acme", KEYS)
    assert ensure(target, [own], folder).built
    before = target.stat().st_ino
    report = ensure(target, [own], folder)
    assert (report.built, report.apps, target.stat().st_ino) == (False, 1, before)

    file.write_text(KEYS.replace("Rockets", "Springs"), "utf-8")
    assert ensure(target, [own], folder).built
    assert not ensure(target, [own], folder).built

    (own / "plain").mkdir(parents=True)
    (own / "plain" / "app.toml").write_text(bare("plain", "Plain"), "utf-8")
    assert ensure(target, [own], folder).apps == 2

    action = folder / "acme" / "actions" / "launch" / "1.0.0.py"
    action.parent.mkdir(parents=True)
    action.write_text("", "utf-8")
    assert ensure(target, [own], folder).built
    assert not ensure(target, [own], folder).built


def test_ensure_keeps_telling_of_problems(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS.replace("anvils.", "anvils"))
    declare("globex", OAUTH)
    first = ensure(tmp_path / "catalog.db", (), folder)
    again = ensure(tmp_path / "catalog.db", (), folder)
    assert (first.apps, again.apps, again.built) == (1, 1, False)
    assert (
        first.problems
        == again.problems
        == ("acme/app.toml: the description must be a sentence that ends with a full stop.",)
    )


def test_ensure_replaces_what_is_no_catalog(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    for garbage in (b"", b"not a database at all" * 100):
        target.write_bytes(garbage)
        assert ensure(target, (), folder).built
        assert not ensure(target, (), folder).built


def test_a_new_schema_is_a_change(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure(tmp_path / "catalog.db", (), folder)
    monkeypatch.setattr(building, "SCHEMA_VERSION", building.SCHEMA_VERSION + 1)
    assert ensure(tmp_path / "catalog.db", (), folder).built


def test_a_build_that_fails_leaves_the_old_catalog(
    folder: Path, declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    build(target, built_in=folder)
    before = target.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    declare("globex", OAUTH)
    monkeypatch.setattr(building, "_words", fail)
    with pytest.raises(OSError, match="no space left"):
        build(target, built_in=folder)
    assert target.read_bytes() == before
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".catalog")] == []


def test_an_open_catalog_outlives_a_rebuild(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    build(target, built_in=folder)
    catalog = Catalog.open(target, public_url="http://localhost:8000")
    declare("globex", OAUTH)
    build(target, built_in=folder)
    assert [app.slug for app in catalog.search(q="a").items] == ["acme"]
    assert catalog.apps(["acme"])[0].spec.fields[1].secret
    assert catalog.app("globex") is None
    catalog.close()


def test_components_are_listed_and_counted(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    for name in ("actions/launch/1.0.0.py", "actions/launch/1.1.0.py", "actions/land/1.0.0.py", "triggers/up/0.1.0.py"):
        file = folder / "acme" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", "utf-8")
    build(tmp_path / "catalog.db", built_in=folder)
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        rows = connection.execute("SELECT key, version, kind, app FROM components ORDER BY key, version").fetchall()
        counts = connection.execute("SELECT actions, triggers FROM apps").fetchall()
    assert rows == [
        ("acme-land", "1.0.0", "action", "acme"),
        ("acme-launch", "1.0.0", "action", "acme"),
        ("acme-launch", "1.1.0", "action", "acme"),
        ("acme-up", "0.1.0", "trigger", "acme"),
    ]
    assert counts == [(2, 1)]
