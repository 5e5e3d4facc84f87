"""What processes hold without a name is counted, once for all of them."""

import os
import subprocess
import sys
import time
from pathlib import Path

from webapp.service.components import limits
from webapp.service.components.confinement import holding, usage


def test_files_without_a_name_and_what_waits_to_be_read_count(tmp_path: Path) -> None:
    """Once, however many processes hold them."""
    script = (
        "import ctypes, os, socket, time\n"
        "file = os.open('opened', os.O_RDWR | os.O_CREAT)\n"
        "os.write(file, bytes(500_000)); os.unlink('opened')\n"
        "mapped = os.open('mapped', os.O_RDWR | os.O_CREAT)\n"
        "os.write(mapped, bytes(700_000)); os.unlink('mapped')\n"
        "ctypes.CDLL(None).mmap(None, ctypes.c_size_t(4096), 1, 1, mapped, ctypes.c_long(0)); os.close(mapped)\n"
        "sockets = socket.socketpair()\n"
        "os.fork()\n"
        "os.write(1, b'ready\\n'); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None and process.stdout.readline() == process.stdout.readline() == b"ready\n"
    everybody = (process.pid, *usage.below(process.pid))
    may_look = Path(f"/proc/{process.pid}/map_files").exists() and os.geteuid() == 0
    taken = holding.nameless(everybody, tmp_path)
    assert len(everybody) == 2 and 1_200_000 <= taken < 1_300_000 + (0 if may_look else limits.FILE_BYTES)
    assert usage.disk(process.pid, tmp_path) == taken + usage.room(str(tmp_path))
    assert 400_000 < holding.buffers(everybody) < 700_000
    assert usage.memory(process.pid) > holding.buffers(everybody)
    usage.end(process.pid)
    process.wait()
    process.stdout.close()
    ends = time.monotonic() + 5
    while holding.nameless(everybody, tmp_path) or holding.buffers(everybody):  # the second ends a moment later
        assert time.monotonic() < ends
        time.sleep(0.01)
