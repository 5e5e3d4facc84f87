"""``patchbay demo``: only an empty folder is filled, only a demo is emptied, and a failure leaves nothing behind."""

import shutil
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from tests.fakes.ports import free_port
from webapp import demo
from webapp.cli import demo_story
from webapp.cli.demo_story import Login
from webapp.errors import PatchbayError
from webapp.kit.clock import FakeClock
from webapp.service.domain.base.service import Service
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "demo"


@pytest.fixture
def commands(patchbay: Commands, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Commands over :func:`folder`, which is not there yet, with a story in which nothing happens."""
    monkeypatch.setattr(demo_story, "tell", _tell)
    return Commands({**patchbay.env, "PATCHBAY_DATA": str(folder)})


def _tell(service: Service, clock: FakeClock) -> Login:
    with service.store.write() as tx:
        demo.mark(tx, "Nothing", clock())
    return Login("owner@nothing.example", "secret")


def test_a_demo_is_made_and_emptied_again(commands: Commands, folder: Path) -> None:
    made = commands.json("demo")
    assert made == {
        "email": "owner@nothing.example", "password": "secret",
        "url": f"http://localhost:{commands.env['PATCHBAY_PORT']}",
    }  # fmt: skip
    assert {"patchbay.db", "keys", "catalog.db"} <= {entry.name for entry in folder.iterdir()}
    assert not (folder / ".filling").exists()
    assert commands.json("user", "list")["users"] == []  # it opens with its own key
    commands.json("demo", "--empty")
    assert list(folder.iterdir()) == []
    assert commands.json("demo")["password"] == "secret"


def test_a_folder_with_anything_in_it_is_left_as_it_is(commands: Commands, folder: Path) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    assert "is not empty" in commands.refused("demo")
    assert "is no demo" in commands.refused("demo", "--empty")
    assert [entry.name for entry in folder.iterdir()] == ["notes.txt"]


def test_an_ordinary_installation_is_not_emptied(commands: Commands, folder: Path) -> None:
    commands.json("init")
    before = {entry.name for entry in folder.iterdir()}
    assert "is no demo" in commands.refused("demo", "--empty")
    assert before <= {entry.name for entry in folder.iterdir()}
    assert commands.json("project", "list")["projects"]


def test_a_demo_that_is_in_use_is_not_emptied(commands: Commands, folder: Path) -> None:
    commands.json("demo")
    store = SQLiteStore(folder / "patchbay.db")
    try:
        assert "stop it first" in commands.refused("demo", "--empty")
        assert demo.is_demo(store)
    finally:
        store.close()


def test_a_story_that_breaks_off_leaves_nothing(
    commands: Commands, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(service: Service, clock: FakeClock) -> Login:
        _tell(service, clock)
        raise PatchbayError("It broke off.")

    monkeypatch.setattr(demo_story, "tell", broken)
    assert "It broke off." in commands.refused("demo")
    assert not folder.exists()
    folder.mkdir()
    commands.refused("demo")
    assert list(folder.iterdir()) == []


def test_a_link_is_made_only_in_a_demo(commands: Commands, folder: Path) -> None:
    assert "is no demo" in commands.refused("demo", "--link")
    assert not folder.exists()
    commands.json("init")
    assert "is no demo" in commands.refused("demo", "--link", "sandbox-find-tasks")
    shutil.rmtree(folder)
    commands.json("demo")
    first, second = (commands.json("demo", "--link", "sandbox-find-tasks")["url"] for _ in range(2))
    assert first.startswith(f"http://localhost:{commands.env['PATCHBAY_PORT']}/demo/")
    assert first != second
    assert commands.run("demo", "--link", "sandbox-delete-task").exit_code == 2
    assert commands.run("demo", "--link", "sandbox-find-tasks", "--empty").exit_code == 2


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("PATCHBAY_SANDBOX", "off", "needs the sandbox"),
        ("PATCHBAY_DATABASE_URL", "postgresql://localhost/x", "embedded database"),
    ],
)
def test_where_no_demo_can_be_made_it_says_why(
    commands: Commands, folder: Path, setting: str, value: str, words: str
) -> None:
    commands.env[setting] = value
    assert words in commands.refused("demo")
    assert not folder.exists()


def test_a_port_that_is_taken_is_named(patchbay: Commands, folder: Path) -> None:
    import socket

    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        env = {**patchbay.env, "PATCHBAY_DATA": str(folder), "PATCHBAY_SANDBOX_PORT": str(port)}
        assert f"Port {port}" in Commands(env).refused("demo")
    assert not folder.exists()
