"""Few requests compute at a time: a thread that waits lets others compute, and continues before new requests."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from webapp.cli.serving import dispatcher as dispatching
from webapp.cli.serving.dispatcher import Dispatcher
from webapp.kit.slots import this_thread


class Task:
    """A request that does ``work``."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.service, self.is_cancelled = work, False

    def cancel(self) -> None:
        self.is_cancelled = True


class Steps:
    """What happened, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._changed = threading.Condition()

    def add(self, step: str) -> None:
        with self._changed:
            self.seen.append(step)
            self._changed.notify_all()

    def wait(self, count: int) -> list[str]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.seen) >= count, 5), self.seen
            return list(self.seen)


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.fixture
def one_slot() -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(4, 1)
    yield dispatcher
    dispatcher.shutdown()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's slot is taken away."""
    monkeypatch.setattr(dispatching, "PATIENCE_S", 30.0)


def test_a_thread_begins_only_when_all_others_are_at_work() -> None:
    dispatcher, begun, go_on = Dispatcher(2, 2), threading.Semaphore(0), threading.Event()

    def work() -> None:
        begun.release()
        go_on.wait(5)

    try:
        counts = []
        for _ in range(3):
            dispatcher.add_task(Task(work))
            counts.append(dispatcher.count)
        assert counts == [1, 2, 2]
        assert begun.acquire(timeout=5) and begun.acquire(timeout=5), "two at once"
        assert dispatcher.has_waiting_requests
        go_on.set()
        assert begun.acquire(timeout=5), "the third, by one of the two"
        while len(dispatcher._idle) < 2:
            time.sleep(0.001)
        dispatcher.add_task(Task(work))
        assert dispatcher.count == 2 and not dispatcher.has_waiting_requests
    finally:
        dispatcher.shutdown()


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_that_all_lost_their_slots_answer_what_waits(threads: int, steps: Steps) -> None:
    """Each has its slot taken while the others are at work, too, so that nobody is there to have it."""
    dispatcher, count = Dispatcher(threads, 1), 4 * threads

    def work() -> None:
        time.sleep(3 * dispatching.PATIENCE_S)  # a wait that is not declared
        steps.add("done")

    try:
        for _ in range(count):
            dispatcher.add_task(Task(work))
        assert steps.wait(count) == ["done"] * count
        assert not dispatcher.has_waiting_requests
    finally:
        dispatcher.shutdown()


@pytest.mark.usefixtures("patient")
def test_requests_of_one_slot_follow_each_other(one_slot: Dispatcher, steps: Steps) -> None:
    def work() -> None:
        steps.add("begins")
        time.sleep(0.002)
        steps.add("ends")

    for _ in range(5):
        one_slot.add_task(Task(work))
    assert steps.wait(10) == ["begins", "ends"] * 5


@pytest.mark.usefixtures("patient")
def test_a_thread_that_waited_continues_before_a_new_request(one_slot: Dispatcher, steps: Steps) -> None:
    answered = threading.Event()

    def asks() -> None:
        with this_thread.waiting, this_thread.waiting:
            answered.wait(5)
        steps.add("the first")

    def computes() -> None:
        answered.set()
        while not one_slot._resumed:
            time.sleep(0.001)
        steps.add("the second")

    for work in (asks, computes, lambda: steps.add("the third")):
        one_slot.add_task(Task(work))
    assert steps.wait(3) == ["the second", "the first", "the third"]


def test_an_undeclared_wait_loses_the_slot(one_slot: Dispatcher, steps: Steps) -> None:
    answered = threading.Event()

    def waits() -> None:
        answered.wait(5)
        with this_thread.waiting:
            steps.add("the first has been away")
        steps.add("the first")

    one_slot.add_task(Task(waits))
    one_slot.add_task(Task(lambda: steps.add("the second")))
    assert steps.wait(1) == ["the second"]
    answered.set()
    assert steps.wait(3)[1:] == ["the first has been away", "the first"]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("ahead_s", "order"),
    [(0.0, ["a request", "reading", "a request", "a request"]), (30.0, [*["a request"] * 3, "reading"])],
    ids=["once it is due", "while there is enough to do, not"],
)
def test_the_reader_takes_a_slot_between_two_requests(
    one_slot: Dispatcher, steps: Steps, monkeypatch: pytest.MonkeyPatch, ahead_s: float, order: list[str]
) -> None:
    monkeypatch.setattr(dispatching, "AHEAD_S", ahead_s)
    monkeypatch.setattr(dispatching, "MOST_AHEAD_S", ahead_s)
    waits, reader = threading.Event(), one_slot.reader
    reader.release()

    def work() -> None:
        waits.wait(5)
        steps.add("a request")

    def read() -> None:
        one_slot.defer_reading()
        waits.set()
        assert reader.wait(5)
        steps.add("reading")
        reader.release()

    for _ in range(3):
        one_slot.add_task(Task(work))
    threading.Thread(target=read).start()
    assert steps.wait(4) == order


def test_the_reader_does_not_wait_for_a_long_computation(one_slot: Dispatcher) -> None:
    go_on, begun, reader = threading.Event(), threading.Event(), one_slot.reader
    reader.release()

    def work() -> None:
        begun.set()
        go_on.wait(5)

    one_slot.add_task(Task(work))
    assert begun.wait(5)
    one_slot.defer_reading()
    assert reader.wait(5)
    go_on.set()


@pytest.mark.usefixtures("patient")
def test_a_request_that_fails_ends_no_thread(
    one_slot: Dispatcher, steps: Steps, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> None:
        raise ValueError("no")

    one_slot.add_task(Task(fails))
    one_slot.add_task(Task(lambda: steps.add("the next")))
    assert steps.wait(1) == ["the next"] and one_slot.count == 1
    assert "could not be answered" in caplog.text


@pytest.mark.usefixtures("patient")
def test_what_has_not_begun_is_cancelled_at_the_end(one_slot: Dispatcher, steps: Steps) -> None:
    go_on = threading.Event()
    waiting = Task(lambda: steps.add("never"))

    def work() -> None:
        steps.add("begins")
        go_on.wait(5)

    one_slot.add_task(Task(work))
    one_slot.add_task(waiting)
    steps.wait(1)
    one_slot.shutdown()
    go_on.set()
    assert waiting.is_cancelled and steps.seen == ["begins"]
