"""Work that ends where somebody wants it no more."""

from webapp.kit import cancellation
from webapp.kit.cancellation import Cancellation


def test_what_is_under_way_is_stopped_and_what_has_ended_is_not() -> None:
    work, stopped = Cancellation(), list[str]()
    with work.stopping(lambda: stopped.append("first")):
        pass
    with work.stopping(lambda: stopped.append("second")):
        work.request()
    assert work.is_requested and stopped == ["second"]
    with work.stopping(lambda: stopped.append("late")):
        pass
    assert stopped == ["second", "late"]


def test_it_is_known_within_its_block_only() -> None:
    work = Cancellation()
    with cancellation.cancelling(work):
        assert cancellation.CURRENT.get() is work
    assert cancellation.CURRENT.get() is None
