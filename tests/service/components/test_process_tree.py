"""The processes of a call end together, whatever became of them."""

import os
import signal
import subprocess

from webapp.service.components import process_tree


def test_a_process_ends_with_its_whole_group() -> None:
    process = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    below = int(process.stdout.readline())
    assert process.pid in process_tree.children()
    process_tree.kill_group(process.pid)
    assert process.wait(5) == -signal.SIGKILL
    process.stdout.close()
    state = subprocess.run(["ps", "-o", "stat=", str(below)], capture_output=True, text=True).stdout.strip()
    assert state == "" or state.startswith("Z")


def test_killing_what_is_gone_is_no_error() -> None:
    process = subprocess.Popen(["true"], start_new_session=True)
    process.wait(5)
    process_tree.kill_group(process.pid)
    assert process.pid != os.getpid()
