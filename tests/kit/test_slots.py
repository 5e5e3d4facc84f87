"""A thread waits until it is notified, and its slot is released until the outermost wait ends."""

import threading

from tests.conftest import CountedSlot
from webapp.kit.slots import Slot, this_thread


def test_a_notified_thread_continues() -> None:
    slot = Slot()
    slot.release()
    assert not slot.wait(0.001) and not slot.has_waiting_requests
    threading.Timer(0.01, slot.notify).start()
    assert slot.wait(5)


def test_a_block_within_a_block_changes_nothing(slot: CountedSlot) -> None:
    with slot, slot:
        assert (slot.released, slot.reacquired) == (1, 0)
    assert (slot.released, slot.reacquired) == (1, 1)
    with slot:
        slot.release()
        slot.notify()
        assert slot.wait() and slot.reacquired == 1
    assert (slot.released, slot.reacquired) == (2, 2)


def test_a_notified_thread_needs_not_reacquire(slot: CountedSlot) -> None:
    slot.release()
    with slot:
        slot.notify()
    assert slot.wait() and (slot.released, slot.reacquired) == (1, 0)
    with slot:
        pass
    assert (slot.released, slot.reacquired) == (2, 1)


def test_a_thread_without_a_slot_just_waits() -> None:
    with this_thread.waiting, this_thread.waiting:
        assert this_thread.slot is None
