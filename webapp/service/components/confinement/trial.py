"""Tries what cannot be taken back, in a process that ends at once: a kernel may know a call and still refuse it."""

import os
from collections.abc import Callable


def works(attempt: Callable[[], object]) -> bool:
    """Whether ``attempt`` raises nothing and gives no False back."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = int(attempt() is False)
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0
