"""A deadline counts down, is never passed silently, and can only be shortened."""

import time

import pytest

from webapp.service.outbound.deadline import Deadline


def test_what_is_left_shrinks_and_ends_in_an_error() -> None:
    deadline = Deadline(0.05)
    assert 0 < deadline.remaining() <= 0.05
    time.sleep(0.06)
    with pytest.raises(TimeoutError):
        deadline.remaining()


def test_the_sooner_of_two_holds() -> None:
    assert Deadline(100).at_most(1).remaining() <= 1
    assert Deadline(1).at_most(100).remaining() <= 1
