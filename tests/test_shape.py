"""What ``make shape`` counts."""

from pathlib import Path

import pytest

from tests import shape

FILES = {
    "webapp/__init__.py": "",
    "webapp/app.py": "def one():\n    def two(): pass\n",
    "webapp/domain/accounts.py": "async def three(): pass\n",
    "webapp/domain/words.py": "A = 1\n\nB = 2\n",
    "webapp/apps/sandbox/actions/add.py": "def run(): pass\n",
}


def test_rooms_are_counted_once_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setattr(shape, "ROOT", tmp_path)
    monkeypatch.setattr(shape, "PACKAGE", f"{tmp_path / 'webapp'}/")
    monkeypatch.setattr(shape, "APPS", tmp_path / "webapp" / "apps")
    rooms = {"webapp": (1, 2, 2), "webapp/domain": (2, 4, 1)}
    assert list(shape.rooms().items()) == [*rooms.items(), ("all", (3, 6, 3))]


def test_the_rooms_are_those_of_the_product() -> None:
    assert (Path(shape.PACKAGE), shape.APPS) == (shape.ROOT / "webapp", shape.ROOT / "webapp/service/catalog/apps")
    assert any(shape.APPS.glob("sandbox/actions/*"))
