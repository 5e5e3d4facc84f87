"""Log lines as JSON carry what machines look for, and nothing of a request but its route."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from webapp.cli.serving.logs import configure
from webapp.kit import crypto


@pytest.fixture(autouse=True)
def _as_before() -> object:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_of_json_names_process_request_and_error(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "worker", "json")
    token = crypto.begin_request()
    logging.getLogger("patchbay.requests").info("GET %s", "api.show", extra={"route": "api.show", "status": 200})
    crypto.end_request(token)
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        logging.getLogger("patchbay").exception("It failed for %s.", "alice")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert len(first.pop("request_id")) == 16 and first.pop("at").endswith("Z")
    assert first == {
        "level": "info", "process": "worker", "logger": "patchbay.requests", "message": "GET api.show",
        "route": "api.show", "status": 200,
    }  # fmt: skip
    assert second["message"] == "It failed for alice." and "RuntimeError: boom" in second["exception"]
    assert "request_id" not in second


def test_a_line_of_text_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure("warning", "web")
    logging.getLogger("patchbay").info("not shown")
    logging.getLogger("patchbay").warning("shown")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("Z web WARNING shown")


REOPENS = """
import os, signal, sys
from webapp.cli.serving.logs import reopen_on_hangup
reopen_on_hangup(lambda: os.write(2, b"told\\n"))
os.write(2, b"before\\n")
os.rename(sys.argv[1], sys.argv[1] + ".1")
os.kill(os.getpid(), signal.SIGHUP)
os.write(2, b"after\\n")
"""


def test_sighup_opens_the_log_anew(tmp_path: Path) -> None:
    log = tmp_path / "patchbay.log"
    with log.open("wb") as errors:
        done = subprocess.run([sys.executable, "-c", REOPENS, str(log)], stderr=errors, timeout=30)
    assert done.returncode == 0
    assert (tmp_path / "patchbay.log.1").read_text() == "before\n" and log.read_text() == "told\nafter\n"
