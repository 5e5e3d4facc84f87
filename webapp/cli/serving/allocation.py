"""How the processes of this project take memory from the system, and how often they look for garbage."""

import ctypes
import gc

ARENAS = 2
YOUNG = 10_000
"""So many more objects are looked at for garbage; a page makes thousands, and nearly all are gone by then."""
_M_ARENA_MAX = -8  # malloc.h of the GNU C library


def limit_arenas() -> None:
    """Let all threads of this process, and of those it forks, allocate from :data:`ARENAS` arenas (mallopt(3)).

    The GNU C library takes eight for each processor, so that threads need not wait for one another. Here one thread
    computes at a time, and what each leaves free in an arena of its own is memory that nobody uses. Other C libraries
    have no such setting. To be called before the first thread begins.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def collect_rarely() -> None:
    """Let this process, and those it forks, look for garbage once :data:`YOUNG` objects are new."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def settle() -> None:
    """What there is now stays: no later look for garbage goes through it. To be called once all is put together."""
    gc.collect()
    gc.freeze()
