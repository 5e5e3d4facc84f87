"""The program that a runner is: how to start one, known without loading what a runner or its client needs."""

import os
import sys
from pathlib import Path

SOCKET = "runner.sock"
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


def command(path: Path, lifeline: int) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment of a runner that listens at ``path`` until the descriptor ``lifeline`` closes.

    The environment carries no setting of ours, so that no component meets a key in it.
    """
    program = (
        f"import sys; sys.path[:] = {[entry for entry in sys.path if entry]!r}; sys.dont_write_bytecode = True\n"
        f"from webapp.service.components.runner_process import main; main({str(path)!r}, {lifeline})"
    )
    environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return [sys.executable, "-c", program], environment
