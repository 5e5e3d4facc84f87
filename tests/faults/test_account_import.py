"""An import of many accounts, one in ten of which is broken, is killed in its middle and run again: the report names
each broken row, every other one is an account that works, and a third run changes nothing.

600 accounts; ``make faults FULL=1``: 10,000.
"""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, ROOT, Shell
from tests.fakes.provider import APP_TOML, FakeProvider, serving

ACCOUNTS = 100 * int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6")
BROKEN = (
    {"external_user": ""}, {"app": "absent"}, {"refresh_token": "canary no token"}, {"expires_at": "soon"},
    {"credentials": {"tenant": "canary"}}, {"oauth_client": "canary-client"}, {"refresh_token": "canary-stale.0"},
    {"refresh_token": "canary-used.7"}, {"refresh_token": None}, {"scopes": [1]},
)  # fmt: skip

pytestmark = [pytest.mark.faults, pytest.mark.embedded]


def row(number: int) -> dict[str, object]:
    """A row of the file; of each ten one is broken, of each hundred in ten ways."""
    good: dict[str, object] = {
        "external_user": f"u-{number}", "app": "acme", "id": str(number), "refresh_token": f"canary-{number}.0",
    }  # fmt: skip
    return {**good, **BROKEN[number // 10 % len(BROKEN)]} if number % 10 == 3 else good


def answer_me(request: BaseHTTPRequestHandler) -> None:
    token = request.headers["Authorization"].removeprefix("Bearer a-")
    name = token.partition(".")[0]
    body = json.dumps({"id": name, "name": name}).encode()
    request.send_response(401 if name == "canary-stale" else 200)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def test_an_import_that_is_killed_and_run_again(
    embedded_shell: Shell, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, report = tmp_path / "accounts.jsonl", tmp_path / "report.jsonl"
    file.write_text("".join(json.dumps(row(number)) + "\n" for number in range(ACCOUNTS)))
    with serving() as provider:
        provider.grants, provider.plays["/me"] = {}, answer_me
        shell = prepared(embedded_shell, data, provider)
        words = ("import-accounts", str(file), "--json", "--report", str(report))
        with subprocess.Popen([*COMMAND, *words], env=shell.env, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
            while provider.token_calls < ACCOUNTS // 3:
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = run_long(shell, words)
        wall_s, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        counts = json.loads(done.stdout)
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        broken = {number + 1 for number in range(ACCOUNTS) if number % 10 == 3}
        lost = [line for line in lines if line["line"] not in broken and line["result"] not in ("imported", "there")]
        assert done.returncode == 1 and len(lines) == ACCOUNTS
        assert len(lost) <= 4, "only what was under way when it was killed can be lost, for a token is good for once"
        assert {line["line"] for line in lines if line["result"] in ("invalid", "refused")} == broken | {
            line["line"] for line in lost
        }
        assert all(line["reason"] for line in lines if line["line"] in broken)
        assert "canary" not in report.read_text() + done.stdout + done.stderr
        held = accounts(data)
        assert len(held) == ACCOUNTS - len(broken) - len(lost) and all(state == (1, 0) for state, _ in held)
        calls = provider.token_calls
        again = json.loads(run_long(shell, words).stdout)
        assert (again["imported"], again["there"], accounts(data)) == (0, len(held), held)
        assert provider.token_calls - calls < ACCOUNTS // 20, "only refused rows are tried again"
    fresh = counts["imported"]
    cpu_ms = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / ACCOUNTS
    with capsys.disabled():
        print(
            f"\n{ACCOUNTS:,} rows, {len(broken):,} broken: {counts['there']:,} were there after the kill, "
            f"{fresh:,} new",
            file=sys.stderr,
        )
        print(
            f"in {wall_s:.1f} s, {cpu_ms:.1f} ms CPU a row, {after.ru_maxrss // 1024} MB at most, {len(lost)} lost",
            file=sys.stderr,
        )


def prepared(shell: Shell, data: Path, provider: FakeProvider) -> Shell:
    """``shell`` with a project and Acme in the catalog, and a client there."""
    folder = data / "apps" / "acme"
    folder.mkdir(parents=True)
    (folder / "app.toml").write_text(APP_TOML.replace("{origin}", provider.origin))
    allowed = replace(shell, env={**shell.env, "PATCHBAY_ALLOW_HOSTS": f"127.0.0.1:{provider.port}"})
    for words in (("init",), ("oauth-app", "add", "--app", "acme", "--client-id", "c", "--client-secret", "s")):
        done = allowed.run(*words)
        assert done.returncode == 0, done.stderr
    return allowed


def run_long(shell: Shell, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], env=shell.env, cwd=ROOT, capture_output=True, text=True, timeout=1200)


def accounts(data: Path) -> list[tuple[tuple[int, int], str]]:
    with closing(sqlite3.connect(data / "patchbay.db")) as database:
        rows = database.execute("SELECT healthy, dead, id FROM accounts ORDER BY id").fetchall()
    return [((healthy, dead), account_id) for healthy, dead, account_id in rows]
