"""A thread waits until it is called, and is away until it has come back from all that it waits for."""

import threading

from tests.conftest import CountedPlace
from webapp.kit.places import HERE, Place


def test_who_is_called_goes_on() -> None:
    place = Place()
    place.leave()
    assert not place.wait(0.001) and not place.crowded
    threading.Timer(0.01, place.call).start()
    assert place.wait(5)


def test_a_block_within_a_block_changes_nothing(place: CountedPlace) -> None:
    with place, place:
        assert (place.left, place.back) == (1, 0)
    assert (place.left, place.back) == (1, 1)
    with place:
        place.leave()
        place.call()
        assert place.wait() and place.back == 1
    assert (place.left, place.back) == (2, 2)


def test_who_was_called_needs_not_come_back(place: CountedPlace) -> None:
    place.leave()
    with place:
        place.call()
    assert place.wait() and (place.left, place.back) == (1, 0)
    with place:
        pass
    assert (place.left, place.back) == (2, 1)


def test_a_thread_without_a_place_just_waits() -> None:
    with HERE.away, HERE.away:
        assert HERE.place is None
