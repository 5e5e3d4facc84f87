"""The sandbox's own file and secret, for its owner alone; whole transactions or none; and numbered pages."""

import stat
from pathlib import Path

import pytest

from webapp.sandbox.store import Page, Store, Window, secret_of


def test_the_file_is_its_owners_and_lasts(tmp_path: Path) -> None:
    with Store(tmp_path / "new").write() as db:
        db.table("projects").insert({"id": "p1", "name": "One", "fields": "[]"})
    assert stat.S_IMODE((tmp_path / "new" / "sandbox.db").stat().st_mode) == 0o600
    with Store(tmp_path / "new").read() as db:
        assert [row["name"] for row in db.table("projects").rows] == ["One"]


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(LookupError), store.write() as db:
        db.table("projects").insert({"id": "p1", "name": "One", "fields": "[]"})
        raise LookupError
    with store.read() as db:
        assert db.table("projects").count == 0


def test_the_secret_is_made_once(tmp_path: Path) -> None:
    secret = secret_of(tmp_path)
    assert len(secret) == 32
    assert secret_of(tmp_path) == secret
    assert stat.S_IMODE((tmp_path / "sandbox.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["sandbox.key"]
    (tmp_path / "other").mkdir()
    assert secret_of(tmp_path / "other") != secret


@pytest.mark.parametrize(("total", "pages"), [(0, 1), (1, 1), (20, 1), (21, 2), (40, 2)])
def test_the_number_of_pages(total: int, pages: int) -> None:
    assert Page([], Window(), total).pages == pages


def test_a_page_as_json() -> None:
    window = Window(3, 10)
    assert window.offset == 20
    assert Page([1, 2], window, 22).to_json(str) == {"data": ["1", "2"], "page": 3, "per_page": 10, "total": 22}
