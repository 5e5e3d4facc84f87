"""How the processes of this project take memory from the system, and how often they look for garbage."""

import ctypes
import gc

ARENAS = 2
YOUNG = 10_000
"""So many more objects are looked at for garbage; a page makes thousands, and nearly all are gone by then."""
LARGE, SPARE = 1 << 20, 2 << 20
"""A block of so many bytes is taken from the system by itself; so many may stay free at the end of an arena."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of the GNU C library


def hold_little() -> None:
    """Let all threads of this process, and of those it forks, hold little that nobody uses (mallopt(3)).

    The GNU C library takes eight arenas for each processor, so that threads need not wait for one another. Here one
    thread computes at a time, and what each leaves free in an arena of its own is of no use to others. A large block
    goes back to the system when it is free; but the library would take the next one of that size from an arena, and
    keep it: a password is hashed in 19 MiB. Other C libraries have no such settings. To be called before the first
    thread begins.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for setting, value in ((_M_ARENA_MAX, ARENAS), (_M_MMAP_THRESHOLD, LARGE), (_M_TRIM_THRESHOLD, SPARE)):
            mallopt(setting, value)


def collect_rarely() -> None:
    """Let this process, and those it forks, look for garbage once :data:`YOUNG` objects are new."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def settle() -> None:
    """What there is now stays: no later look for garbage goes through it. To be called once all is put together."""
    gc.collect()
    gc.freeze()
