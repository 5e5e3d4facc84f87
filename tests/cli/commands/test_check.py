"""``patchbay check``: what keeps an installation from working, and what to do."""

import json
import socket
from pathlib import Path

from tests.cli.in_process import Commands


def test_check_is_content_with_a_new_and_with_a_used_folder(patchbay: Commands, data: Path) -> None:
    assert patchbay.json("check")["ok"]
    patchbay.json("init")
    found = patchbay.json("check")
    assert found["ok"] and {one["subject"] for one in found["findings"]} == {
        "settings", "SQLite", "data folder", "database", "catalog", "components", "ports",
    }  # fmt: skip


def test_check_says_that_code_of_components_is_not_confined(patchbay: Commands) -> None:
    patchbay.json("component", "new", "say-hello")
    (note,) = (one for one in patchbay.json("check")["findings"] if one["subject"] == "components")
    assert note["verdict"] == "note" and note["sentence"].startswith("1 of your own.")
    assert "can read the key" in note["sentence"] and "Install only code you trust." in note["sentence"]


def test_check_finds_what_is_wrong(patchbay: Commands, data: Path) -> None:
    patchbay.json("init")
    (data / "keys").chmod(0o644)
    done = patchbay.run("check")
    assert done.exit_code == 1 and "chmod 600" in done.stdout
    with socket.create_server(("127.0.0.1", 0)) as taken:
        patchbay.env = {**patchbay.env, "PATCHBAY_MAIL_PORT": str(taken.getsockname()[1])}
        assert "set PATCHBAY_MAIL_PORT to another" in patchbay.run("check").stdout
    patchbay.env = {**patchbay.env, "PATCHBAY_PORT": "no"}
    done = patchbay.run("check", "--json")
    assert done.exit_code == 1 and "PATCHBAY_PORT" in json.loads(done.stdout)["findings"][0]["sentence"]
