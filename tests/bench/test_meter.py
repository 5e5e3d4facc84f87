"""The CPU time of a server is all of it, that of threads which have ended included."""

import os
import threading
import time

from tests.bench.meter import spent_s


def test_a_thread_counts_after_its_end() -> None:
    before, used = spent_s(os.getpid()), []

    def work() -> None:
        while time.thread_time() < 0.05:
            sum(range(1000))
        used.append(time.thread_time())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert spent_s(os.getpid()) - before >= used[0]
