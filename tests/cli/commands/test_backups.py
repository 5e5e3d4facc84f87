"""Keys, backups and restoring as an operator meets them, beside a running ``patchbay serve`` and without it."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

pytestmark = pytest.mark.faults  # each starts and stops whole servers

Start = Callable[[], Any]
Eventually = Callable[[Callable[[], Any]], Any]


def token(port: int, ready: dict[str, str]) -> int:
    """The status of asking for an access token."""
    body = {"grant_type": "client_credentials", **{name: ready[name] for name in ("client_id", "client_secret")}}
    with requests.Session() as session:
        session.trust_env = False
        return session.post(f"http://localhost:{port}/v1/oauth/token", json=body, timeout=5).status_code


def test_rotating_backing_up_and_what_is_refused_while_it_runs(
    start: Start, shell: Any, tmp_path: Path, eventually: Eventually
) -> None:
    server = start()
    ready = shell.json("init")
    first = shell.json("keys", "rotate")
    assert (first["resumed"], first["unreadable"], first["provider_clients"]) == (False, 0, 1)
    made = shell.json("backup", str(tmp_path / "b.zip"))
    assert made["bytes"] == (tmp_path / "b.zip").stat().st_size
    for words in (("keys", "rotate", "--instance"), ("restore", str(tmp_path / "b.zip"))):
        assert shell.refused(*words).endswith("stop it first.")
    for pid in server.children():  # even in the moment in which a process of its is started again
        os.kill(pid, signal.SIGKILL)
    assert shell.refused("restore", str(tmp_path / "b.zip")).endswith("stop it first.")
    eventually(lambda: len(server.children()) == 4)
    assert token(server.port, ready) == 200
    assert server.stop() == 0
    assert shell.json("restore", str(tmp_path / "b.zip"))["made_at"] == made["made_at"]
    assert token(start().port, ready) == 200


def test_another_instance_key_in_the_file(start: Start, shell: Any, data: Path) -> None:
    ready, before = shell.json("init"), (data / "keys").read_bytes()
    done = shell.run("keys", "rotate", "--instance")
    assert done.returncode == 0 and "make a new one" in done.stdout
    assert (data / "keys").read_bytes() != before and before.decode().strip() not in done.stdout + done.stderr
    again = shell.json("init")
    assert again["client_id"] == ready["client_id"] and again["client_secret"] != ready["client_secret"]
    server = start()
    assert (token(server.port, again), token(server.port, ready)) == (200, 401)
    server.stop()
    (data / "keys").write_bytes(before)
    assert "does not open this database" in shell.refused("serve")


def test_another_instance_key_from_standard_input(shell: Any) -> None:
    inherited = shell.env
    shell.env = {**inherited, "PATCHBAY_SECRET_KEY": "oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD"}
    shell.json("init")
    assert "at least 32 characters" in shell.refused("keys", "rotate", "--instance", input="short\n")
    assert "differs" in shell.refused("keys", "rotate", "--instance", input="oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD" + "\n")
    done = shell.run("keys", "rotate", "--instance", "--json", input="nF6yB1gJ8uS3eX5dQ0vT7kA2wZ9hM4cRpL" + "\n")
    assert json.loads(done.stdout) == {"instance_key": "PATCHBAY_SECRET_KEY", "replaced": True}
    assert "does not open this database" in shell.refused("init")
    shell.env = {**inherited, "PATCHBAY_SECRET_KEY": "nF6yB1gJ8uS3eX5dQ0vT7kA2wZ9hM4cRpL"}
    shell.json("init")


def test_a_server_whose_key_file_was_changed_continues_and_does_not_start_again(
    start: Start, shell: Any, data: Path, eventually: Eventually
) -> None:
    server = start()
    ready = shell.json("init")
    (data / "keys").write_text("0" * 64)
    assert token(server.port, ready) == 200
    for pid in server.children():  # one of them, the runner, needs no key and comes back
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: server.process.poll() is not None)
    assert "does not open this database" in server.errors() and "Traceback" not in server.errors()


def test_a_backup_says_where_its_key_is(shell: Any, data: Path, tmp_path: Path) -> None:
    shell.json("init")
    done = shell.run("backup", str(tmp_path / "b.zip"))
    assert done.returncode == 0 and f"Keep {data / 'keys'} too, in another place" in done.stdout
    assert "is there already" in shell.refused("backup", str(tmp_path / "b.zip"))
    assert "is not a backup of Patchbay" in shell.refused("restore", str(data / "keys"))
