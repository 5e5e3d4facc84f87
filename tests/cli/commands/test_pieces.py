"""``patchbay piece``: integrations are added, listed, changed and removed, whether a worker runs or not.

What the command prints of integrations.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from tests.service.domain.pieces.planted import plant
from tests.service.domain.pieces.tried import NAME, describe, tarball
from webapp.cli.commands.pieces import facts_of, tell
from webapp.service.components.pieces import node
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.pieces import listing, pieces
from webapp.settings import Settings
from webapp.store.stores import open_store


@pytest.fixture(autouse=True)
def _described(monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch)
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "20.0.0"))


def test_one_is_added_changed_and_removed(patchbay: Commands, data: Path, tmp_path: Path) -> None:
    (added,) = patchbay.json("piece", "add", str(tarball(tmp_path)))["pieces"]
    assert (added["package"], added["version"], added["app"], added["actions"]) == (NAME, "1.0.0", "kiosk", 1)
    assert (added["hosts"], added["hidden"], added["licence"]) == (["api.kiosk.io"], False, "MIT")
    (changed,) = patchbay.json("piece", "change", NAME, "--host", "b.example", "--hidden")["pieces"]
    assert (changed["hosts"], changed["hidden"]) == (["b.example"], True)
    (listed,) = patchbay.json("piece", "list", "--check")["pieces"]
    assert (listed["state"], listed["whole"], listed["deployed"]) == ("added", "yes", 0)
    assert patchbay.json("piece", "remove", NAME) == {"package": NAME, "version": "1.0.0"}
    assert "No integration was added yet" in patchbay.run("piece", "list").stdout


def test_why_one_is_not_brought_stands_below_the_list(patchbay: Commands, data: Path, tmp_path: Path) -> None:
    patchbay.json("piece", "add", str(tarball(tmp_path)))
    with closing(open_store(Settings.from_env({}, data=data))) as store, store.write() as tx:
        pieces.change(tx, pieces.all_of(store)[0], state="failed", error="It could not be loaded (index.js, line 3).")
    assert "Kiosk: It could not be loaded (index.js, line 3)." in patchbay.run("piece", "list").stderr


def test_another_version_is_previewed_first(patchbay: Commands, data: Path, tmp_path: Path) -> None:
    patchbay.json("piece", "add", str(tarball(tmp_path)))
    tarball(tmp_path, "1.1.0").replace(tmp_path / "kiosk-1.0.0.tgz")
    (shown,) = patchbay.json("piece", "update", NAME, "--preview")["pieces"]
    assert (shown["version"], shown["gone"], shown["changed"]) == ("1.0.0", [], [])
    done = patchbay.run("piece", "update", NAME)
    assert "The integration Kiosk is up to date." in done.stdout
    assert " …\n" in done.stderr
    assert patchbay.json("piece", "list")["pieces"][0]["version"] == "1.1.0"


def test_what_is_not_whole_is_reported_and_brought_again(patchbay: Commands, data: Path, tmp_path: Path) -> None:
    patchbay.json("piece", "add", str(tarball(tmp_path)))
    (file,) = data.glob("pieces/packages/*/*/node_modules/@acme/piece-kiosk/index.js")
    file.unlink()
    broken = patchbay.run("piece", "list", "--check")
    assert broken.exit_code == 1
    assert "was changed since it was added" in broken.stdout
    assert "Everything that was added is complete" in patchbay.run("piece", "sync", "--from", str(tmp_path)).stdout
    assert file.is_file()


def test_what_cannot_be_added_is_one_sentence(patchbay: Commands, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is no name of a package" in patchbay.refused("piece", "add", "https://example.com/x.tgz")
    assert "There is nothing at" in patchbay.refused("piece", "add", "./nowhere")
    assert "There is no integration slack" in patchbay.refused("piece", "remove", "slack")
    monkeypatch.setattr(node, "find", lambda: None)
    assert "Node" in patchbay.refused("piece", "add", "slack")


def test_a_package_that_is_too_old_is_named_once(
    patchbay: Commands, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch, error="The package is too old: it is built for an early framework.")
    broken = patchbay.run("piece", "add", str(tarball(tmp_path)))
    assert (broken.exit_code, broken.stdout, broken.stderr.count(NAME)) == (1, "", 1)
    assert broken.stderr.endswith(
        f"{NAME} 1.0.0 cannot be used here. The package is too old: it is built for an early framework.\n"
    )


def test_what_was_added_before_one_that_cannot_be_is_reported(patchbay: Commands, data: Path, tmp_path: Path) -> None:
    broken = patchbay.run("piece", "add", str(tarball(tmp_path)), "./nowhere")
    assert broken.exit_code == 1
    assert "The integration Kiosk was added." in broken.stdout
    assert "There is nothing at" in broken.stderr


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    opened = open_service(settings)
    yield opened
    close_service(opened)


def test_what_is_left_out_and_what_changes_is_reported(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    piece = plant(service, state="ready", wanted="2.0.0", step=3)
    view = listing.find(service, piece.id)
    tell([view], as_json=False, what="would be so")
    printed = capsys.readouterr()
    assert printed.out.startswith("The integration Shop would be so.\n")
    assert "Wait is left out: It needs waitpoints" in printed.err
    assert "Find order was removed." in printed.err
    assert facts_of(view)["licence"] == "MIT"
