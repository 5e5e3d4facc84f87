"""The supervisor's own promises, shown on children that are not ours. What ``serve`` does with it is test_serve's."""

import subprocess
import sys
import time

SLOW_TO_HEAR = """
import os, signal, threading, time
from webapp.cli.serving import supervisor
from webapp.cli.serving.stopping import Stop

hears = Stop.on
def late(self, *signals):
    os.kill(os.getppid(), signal.SIGTERM)  # the end comes before the child can hear it
    time.sleep(0.5)
    return hears(self, *signals)
Stop.on = late
child = supervisor.Child("deaf", lambda stop: stop.wait())
raise SystemExit(supervisor.Supervisor([child], lambda name: None).run(lambda: True))
"""


def test_a_child_that_is_told_to_end_before_it_can_hear_ends_all_the_same() -> None:
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", SLOW_TO_HEAR], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begun < 8, "it was killed at the end of its grace, rather than asked"
