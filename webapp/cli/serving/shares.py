"""Sharing a port evenly: how many connections each web process has open, in memory that all of them see.

All of them wait at the same sockets, and the kernel wakes them in no fair order. Whoever has more connections than
another lets that one go first for a moment; so clients that keep theirs are spread, and no connection waits for a
process that is busy or dead.
"""

import mmap
import struct
import time

YIELD_S = 0.001
_COUNT = struct.Struct("=q")


class Share:
    """The share of one process, by its number."""

    def __init__(self, memory: mmap.mmap, number: int) -> None:
        self._memory, self._place = memory, number * _COUNT.size

    def hold(self, connections: int) -> None:
        """It has so many connections open now."""
        _COUNT.pack_into(self._memory, self._place, connections)

    def give_way(self) -> None:
        """Let another process take the next connection, where one has fewer."""
        counts = [count for (count,) in _COUNT.iter_unpack(self._memory)]
        if counts[self._place // _COUNT.size] > min(counts):
            time.sleep(YIELD_S)


def shares(processes: int) -> list[Share]:
    """One for each of so many processes, which are forked afterwards."""
    memory = mmap.mmap(-1, processes * _COUNT.size)
    return [Share(memory, number) for number in range(processes)]
