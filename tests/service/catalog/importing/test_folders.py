"""An app's folder is exchanged for another; a crash in the middle leaves the old one or the new one."""

from pathlib import Path

import pytest

from webapp.service.catalog.importing import folders


def folder(place: Path, text: str) -> Path:
    place.mkdir(parents=True)
    (place / "app.toml").write_text(text, "utf-8")
    return place


def content(data: Path) -> str:
    return (data / "apps" / "acme" / "app.toml").read_text("utf-8")


def test_a_folder_is_put_exchanged_and_removed(tmp_path: Path) -> None:
    folders.exchange(tmp_path, "acme", folder(tmp_path / "one", "1"))
    assert content(tmp_path) == "1"
    folders.exchange(tmp_path, "acme", folder(tmp_path / "two", "2"))
    assert content(tmp_path) == "2"
    folders.remove_folder(tmp_path, "acme")
    assert list((tmp_path / "apps").iterdir()) == list((tmp_path / ".replaced-apps").iterdir()) == []


@pytest.mark.parametrize("crashing", ["rename", "rmtree"])
def test_a_crash_leaves_the_old_or_the_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crashing: str) -> None:
    folders.exchange(tmp_path, "acme", folder(tmp_path / "one", "1"))
    new = folder(tmp_path / "two", "2")
    rename = Path.rename

    def crash(self: Path, *_: object, **__: object) -> Path:
        if crashing == "rename" and self != new:
            return rename(self, *_)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(*(("pathlib.Path.rename", crash) if crashing == "rename" else ("shutil.rmtree", crash)))
        with pytest.raises(KeyboardInterrupt):
            folders.exchange(tmp_path, "acme", new)
    folders.recover(tmp_path)
    assert content(tmp_path) == ("1" if crashing == "rename" else "2")
    assert list((tmp_path / ".replaced-apps").iterdir()) == []


def test_without_a_crash_there_is_nothing_to_put_right(tmp_path: Path) -> None:
    folders.recover(tmp_path)
    assert list(tmp_path.iterdir()) == []
