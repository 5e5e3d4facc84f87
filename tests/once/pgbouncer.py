"""A PgBouncer of this machine before a database of the tests, in transaction mode with two connections for all."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.fakes.ports import free_port

INI = """[databases]
* = host=127.0.0.1 port={server} user={user} password='{password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 2
unix_socket_dir =
logfile = {folder}/log
"""


@contextmanager
def pooled(url: str) -> Iterator[str]:
    """The address of the database ``url`` behind PgBouncer; skipped where there is none."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("PgBouncer is missing")
        pytest.skip("PgBouncer is not installed")
    port = free_port()
    parts = urlsplit(url)
    password = unquote(parts.password or "")
    with tempfile.TemporaryDirectory(prefix="pgbouncer-") as name:
        folder, ini = Path(name), Path(name) / "pgbouncer.ini"
        folder.chmod(0o777)
        ini.write_text(INI.format(server=parts.port, user=parts.username, password=password, port=port, folder=folder))
        prefix = ["runuser", "-u", "nobody", "--"] if os.getuid() == 0 else []
        with subprocess.Popen([*prefix, program, "-q", str(ini)]) as process:
            try:
                _wait_for(port)
                yield f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}"
            finally:
                process.terminate()


def _wait_for(port: int) -> None:
    ends = time.monotonic() + 5
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    pytest.fail("PgBouncer did not begin")
