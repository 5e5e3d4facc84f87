"""Room for large bodies: bounded in all and for each endpoint, and given up after a while."""

import threading
from contextlib import ExitStack

import pytest

from webapp.errors import Unavailable
from webapp.service.domain.deliveries.large_bodies import LargeBodies


def test_one_endpoint_has_half_and_the_others_the_rest() -> None:
    bodies = LargeBodies(100, wait_s=0.01)
    with ExitStack() as held:
        held.enter_context(bodies.room("hangs", 30))
        held.enter_context(bodies.room("hangs", 20))
        with pytest.raises(Unavailable), bodies.room("hangs", 1):
            pass
        with bodies.room("other", 50), pytest.raises(Unavailable), bodies.room("third", 1):
            pass
    with bodies.room("hangs", 50):
        pass


def test_what_is_larger_than_all_goes_alone() -> None:
    bodies = LargeBodies(100, wait_s=0.01)
    both = bodies.room("one", 10_000), bodies.room("two", 10_000)
    with both[0], both[1], pytest.raises(Unavailable), bodies.room("three", 10_000):
        pass


def test_whoever_waits_goes_on_when_there_is_room() -> None:
    bodies, went = LargeBodies(100, wait_s=10), threading.Event()

    def wait() -> None:
        with bodies.room("one", 50):
            went.set()

    thread = threading.Thread(target=wait)
    with bodies.room("one", 50):
        thread.start()
        assert not went.wait(0.05)
    assert went.wait(5)
    thread.join()
