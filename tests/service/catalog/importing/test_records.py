"""What is remembered of an import."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.openapi_documents import planned
from webapp.service.catalog.importing.files import remembered
from webapp.service.catalog.importing.records import RECORD, Options, Record, Summary, digest, summary


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    standing = remembered(planned({}, Options(only=("getMe",))), "acme.json", 5, {"app.toml": digest(b"x")})
    (tmp_path / RECORD).write_bytes(standing.to_json())
    assert Record.read(tmp_path) == standing
    (tmp_path / "app.toml").write_bytes(b"x")
    assert standing.is_untouched(tmp_path, "app.toml") and standing.is_untouched(tmp_path, "gone.toml")
    (tmp_path / "app.toml").write_bytes(b"y")
    assert not standing.is_untouched(tmp_path, "app.toml")


def test_lists_read_its_summary_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert summary(tmp_path) is None
    standing = remembered(planned({}), "acme.json", 5, {})
    (tmp_path / RECORD).write_bytes(standing.to_json())
    known = Summary("acme", "Acme", "1", "acme.json", 5, "", 1)
    assert summary(tmp_path) == known
    with monkeypatch.context() as patch:
        patch.setattr(Record, "read", None)
        assert summary(tmp_path) == known
    draft = tmp_path / "draft"
    draft.write_bytes(replace(standing, source="other.json").to_json())
    draft.replace(tmp_path / RECORD)
    assert summary(tmp_path) == replace(known, source="other.json")
    (tmp_path / RECORD).write_bytes(b"{")
    assert summary(tmp_path) is None


def test_what_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    assert Record.read(tmp_path) is None
    for content in (b"{", b"[]", b'{"options": {}}'):
        (tmp_path / RECORD).write_bytes(content)
        assert Record.read(tmp_path) is None


def test_choices_stay_where_no_others_are_made() -> None:
    before = Options(only=("Pets",), auth="key", test="/me")
    assert Options(auth="bearer").or_else(before) == Options(only=("Pets",), auth="bearer", test="/me")
