"""What one call may do to the runner and to its neighbours: nothing. And what the caller is told about it."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import CountedSlot
from webapp.kit.cancellation import Cancellation, cancelling
from webapp.service.components.calls import Call, Reply
from webapp.service.components.child_calls import for_child
from webapp.service.components.executor import CANCELLED, Executor
from webapp.service.components.runner import Runner
from webapp.service.components.wire import Line, encode

Run = Callable[..., Reply]
Thing = Callable[[str], Path]

LEAK = """
kept = []
while True:
    kept.append(bytearray(16 * 1024 * 1024))
"""
FLOOD = """
line = "x" * 1023
for _ in range(100 * 1024):
    print(line)
"""


@contextmanager
def neighbours(runner: Runner, path: Path) -> Iterator[list[Reply]]:
    """Good calls, one after another, for as long as the block takes; at least three."""
    replies: list[Reply] = []
    over = threading.Event()

    def keep_calling() -> None:
        while not over.is_set() or len(replies) < 3:
            replies.append(runner.call(Call(path=str(path), props={"n": len(replies)})))

    thread = threading.Thread(target=keep_calling)
    thread.start()
    yield replies
    over.set()
    thread.join()


@pytest.fixture
def good(write: Callable[..., Path]) -> Path:
    return write(
        """
        from webapp.service.components.authoring import Action
        class Good(Action):
            def run(self, ctx):
                return {"n": ctx.props.n}
        """,
        "actions/good/1.0.0.py",
    )


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("while True: pass", "timeout", "was still working after 0.5 s, so it was stopped"),
        ("time.sleep(60)", "timeout", "was still working after 0.5 s"),
        (LEAK, "memory", "needed more than 512 MiB of memory"),
        (FLOOD, "output", "more than 6 MiB of results and logs"),
        ("os.write(1, b'x' * 100_000_000)", "output", "more than 6 MiB"),
        ("return 'x' * 7_000_000", "result", "which is too much"),
        ("os.abort()", "crash", "ended without a result: it was ended by SIGABRT"),
        ("ctypes.string_at(0)", "crash", "it was ended by SIGSEGV"),
        ("os._exit(7)", "crash", "it exited with code 7"),
        ("os.kill(0, 9)", "crash", "it was ended by SIGKILL"),
        ("sys.exit(3)", "exception", "ended its own process"),
        ("return {1, 2}", "result", "JSON cannot carry"),
        ("return {'at': object()}", "result", "JSON cannot carry"),
        ("return '\\ud800'", "result", "JSON cannot carry"),
        ("return 2 ** 70", "result", "JSON cannot carry"),
        ("ctx.export('x', object())", "result", "export x"),
        ("raise ValueError('no such thing')", "exception", "ValueError: no such thing"),
        ("raise ComponentError('Choose a project.')", "exception", "Choose a project."),
        ("raise RuntimeError('y' * 50_000_000)", "exception", "RuntimeError: yyy"),
        ("return ctx.props.nothing", "exception", "no prop named nothing"),
        ("return (lambda f: f(f))(lambda f: f(f))", "exception", "RecursionError"),
        ("[os.close(n) for n in range(3, 10)]", "crash", "ended without a result"),
    ],
)  # fmt: skip
def test_a_component_that_misbehaves_is_told_about_and_harms_nobody(
    runner: Runner, thing: Thing, good: Path, body: str, kind: str, said: str
) -> None:
    call = Call(path=str(thing(body)), deadline_s=0.5 if kind == "timeout" else 30)
    with neighbours(runner, good) as replies:
        began = time.monotonic()
        reply = runner.call(call)
        took = time.monotonic() - began
    assert reply.error is not None
    assert (reply.error.kind, reply.value) == (kind, None)
    assert said in reply.error.message
    assert len(reply.error.message) <= 2_000
    assert reply.observations[-1].k == "error"
    assert took < 0.5 + 5 if kind == "timeout" else took < 30
    assert [(one.error, one.value) for one in replies] == [(None, {"n": number}) for number in range(len(replies))]


def test_what_was_logged_and_exported_survives_the_end(run: Run) -> None:
    reply = run(
        """
        def run(self, ctx):
            ctx.export("$summary", "Half done.")
            ctx.log("one", 2)
            print("printed")
            os.system("echo from below")
            sys.stderr.write("no newline")
            sys.stderr.flush()
            time.sleep(60)
        """,
        deadline_s=1.0,
    )
    assert reply.error is not None and reply.error.kind == "timeout"
    assert reply.exports == {"$summary": "Half done."}
    assert sorted(one.msg for one in reply.observations if one.msg) == ["from below", "no newline", "one 2", "printed"]


def test_many_calls_that_wait_run_side_by_side(runner: Runner, thing: Thing, tiny: Any) -> None:
    call = Call(
        path=str(thing("return ctx.http.get('/slow').status")),
        accounts={"account": tiny.grant()},
        allow_hosts=(tiny.netloc,),
    )
    runner.call(call)
    with ThreadPoolExecutor(64) as pool:
        began = time.monotonic()
        replies = [one.result() for one in [pool.submit(runner.call, call) for _ in range(64)]]
        took = time.monotonic() - began
    assert [one.value for one in replies] == [200] * 64
    assert took < 16  # a second each, were it one after another: 64


def test_others_compute_while_a_call_runs(runner: Runner, thing: Thing, slot: CountedSlot) -> None:
    assert runner.call(Call(path=str(thing("return 7")))).value == 7
    assert (slot.released, slot.reacquired) == (1, 1)


def test_more_calls_than_may_run_at_once_wait_for_their_turn(thing: Thing) -> None:
    path = str(thing("time.sleep(0.05)"))
    with Runner.start() as runner, ThreadPoolExecutor(150) as pool:
        replies = [one.result() for one in [pool.submit(runner.call, Call(path=path)) for _ in range(150)]]
    assert [one.error for one in replies] == [None] * 150


def test_nothing_that_it_starts_outlives_the_call(run: Run) -> None:
    reply = run(
        """
        def run(self, ctx):
            started = [subprocess.Popen(["sleep", "600"], start_new_session=away).pid for away in (False, True) * 5]
            reading, writing = os.pipe()
            if not os.fork():
                os.setsid()
                if not os.fork():
                    os.write(writing, str(os.getpid()).encode())
                    time.sleep(600)
                os._exit(0)
            started.append(int(os.read(reading, 99)))
            return [*started, os.getpid()]
        """
    )
    assert reply.ok and len(reply.value) == 12
    deadline = time.monotonic() + 5
    while any(map(lives, reply.value)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_component_has_a_folder_of_its_own_that_vanishes(run: Run) -> None:
    reply = run("return [os.getcwd(), str(ctx.files.write('a.txt', b'x')), os.environ['TMPDIR']]")
    folder, file, temporary = reply.value
    assert folder == temporary == str(Path(file).parent)
    deadline = time.monotonic() + 5
    while Path(folder).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_component_sees_no_setting_of_ours_and_no_descriptor(thing: Thing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", "canary" * 8)
    with Runner.start() as runner:
        body = "return [dict(os.environ), sorted(map(int, os.listdir('/proc/self/fd')))]"
        environment, descriptors = runner.call(Call(path=str(thing(body)))).value
        inherited = runner.call(Call(path=str(thing("return open(f'/proc/{os.getpid()}/environ').read()")))).value
    assert not [name for name in environment if name.startswith("PATCHBAY_")]
    assert "canary" not in inherited
    assert descriptors[:5] == [0, 1, 2, 3, 4] and len(descriptors) == 6  # the last lists them


def test_a_runner_that_died_is_noticed_and_begun_again(good: Path, thing: Thing) -> None:
    with Runner.start() as runner:
        first = runner.call(Call(path=str(thing("return os.getppid()")))).value
        os.kill(first, signal.SIGKILL)
        wait_for_end(first)
        second = runner.call(Call(path=str(thing("return os.getppid()"))))
        assert second.ok and second.value != first
        slow = str(thing("time.sleep(30)"))
        with ThreadPoolExecutor(1) as pool:
            working: Future[Reply] = pool.submit(runner.call, Call(path=slow))
            time.sleep(0.5)
            os.kill(second.value, signal.SIGKILL)
            lost = working.result()
    assert lost.error is not None and lost.error.kind == "runner"
    assert lost.error.message == "The runner ended while the component was working. Run it again."


def test_closing_ends_the_runner_and_what_it_runs(thing: Thing) -> None:
    runner = Runner.start()
    path = str(thing("time.sleep(60)"))
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(runner.call, Call(path=path))
        pids = [child_of(runner), process_of(runner)]
        runner.close()
        reply = working.result()
    assert reply.error is not None and reply.error.kind == "runner"
    for pid in pids:
        wait_for_end(pid)
    again = runner.call(Call(path=path))
    assert again.error is not None
    assert (
        again.error.message == "Components cannot run now, because the runner does not answer. Try again in a moment."
    )


def test_a_runner_of_somebody_elses_is_asked_by_its_address(good: Path) -> None:
    with Runner.start() as own:
        own.call(Call(path=str(good), props={"n": 0}))
        path = own._address()
        assert path is not None and (path.parent.stat().st_mode & 0o777) == 0o700
        other = Runner.connect(path)
        assert other.call(Call(path=str(good), props={"n": 5})).value == {"n": 5}
        other.close()
        assert own.call(Call(path=str(good), props={"n": 6})).value == {"n": 6}


def test_an_asker_that_hangs_up_ends_the_call(runner: Runner, thing: Thing) -> None:
    path = str(thing("time.sleep(60)"))
    address = runner._address()
    assert address is not None
    runner.call(Call(path=path, method="declare"))
    line = Line.open(address, time.monotonic() + 10)
    call = Call(path=path)
    line.send(encode({"deadline_s": 60}) + encode(for_child(call)))
    pid = child_of(runner)
    line.close()
    wait_for_end(pid)


def test_a_call_that_nobody_wants_any_more_is_stopped(runner: Runner, thing: Thing) -> None:
    work, replies = Cancellation(), list[Reply]()
    call = Call(path=str(thing("time.sleep(60)")))

    def make() -> None:
        with cancelling(work):
            replies.append(Executor(runner).call(call))

    thread = threading.Thread(target=make)
    thread.start()
    pid = child_of(runner)
    work.request()
    thread.join(5)
    (reply,) = replies
    assert reply.error is not None and reply.error.message == CANCELLED
    assert reply.observations[-1].err == reply.error
    wait_for_end(pid)


@pytest.mark.parametrize("rubbish", [b"\xff" * 64, b"\0\0\0\2{}\0\0\0\2{}", b"GET / HTTP/1.1\r\n\r\n"])
def test_rubbish_on_the_socket_is_hung_up_on(runner: Runner, good: Path, rubbish: bytes) -> None:
    assert runner.call(Call(path=str(good), props={"n": 1})).ok
    address = runner._address()
    assert address is not None
    line = Line.open(address, time.monotonic() + 10)
    line.send(rubbish)
    with pytest.raises(OSError):
        line.receive()
    line.close()
    assert runner.call(Call(path=str(good), props={"n": 2})).value == {"n": 2}


def test_values_that_json_cannot_carry_are_refused_in_a_sentence(runner: Runner, good: Path) -> None:
    for value in (object(), "\ud800"):
        reply = runner.call(Call(path=str(good), props={"n": value}))
        assert reply.error is not None
        assert reply.error.message == "The values contain something that JSON cannot represent. Check them."
    large = runner.call(Call(path=str(good), props={"n": "x" * 17_000_000}))
    assert large.error is not None and large.error.message == "The values given are too large. Send less."


def test_no_descriptor_stays_open_in_the_runner(runner: Runner, run: Run, good: Path) -> None:
    pid = run("return os.getppid()").value
    before = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    for number in range(20):
        runner.call(Call(path=str(good), props={"n": number}))
    run("os.abort()")
    time.sleep(0.1)
    assert len(list(Path(f"/proc/{pid}/fd").iterdir())) <= before


def process_of(runner: Runner) -> int:
    process = runner._process
    assert process is not None
    return process.pid


def child_of(runner: Runner) -> int:
    """The process of the only call that runs, once there is one."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if runner._process is not None:
            pid = process_of(runner)
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if len(children) > 1:  # the first one forks
                return int(children[1])
        time.sleep(0.02)
    raise AssertionError("no call runs")


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 10
    while lives(pid):
        assert time.monotonic() < deadline, f"{pid} lives on"
        time.sleep(0.02)


def test_a_folder_that_somebody_removed_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    process = SimpleNamespace(poll=lambda: None, stdin=None, wait=lambda timeout: 0)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: process)
    runner = Runner.start()
    first, folder = runner._address(), runner._folder
    assert first is not None and folder is not None and first.parent.is_dir()
    shutil.rmtree(first.parent)
    second = runner._address()
    assert second is not None and second.parent.is_dir() and second != first
    assert not folder._finalizer.alive, "it would warn when it is forgotten"  # type: ignore[attr-defined]
    runner.close()
    assert not second.parent.exists()
