"""How long to wait before what failed is tried again, by the waits that its module sets."""

from collections.abc import Sequence


def back_off(waits: Sequence[int], failures: int) -> int:
    """The wait after so many failures in a row; the last of ``waits`` is that after all later ones."""
    return waits[min(max(failures, 1), len(waits)) - 1]
