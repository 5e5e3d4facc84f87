"""The client of the runner: :class:`Runner` sends a Call and returns the Reply. Threads may share it.

A runner is either another process's (:meth:`Runner.connect`: the supervisor keeps it alive, and calls wait a moment
while it starts again) or this process's own (:meth:`Runner.start`: started at the first call and again if it dies,
ended by :meth:`Runner.close`). A failure is part of the Reply, never an exception.

Whoever calls a component asks an :class:`Executor`: what is data runs in this thread, what is code by the runner.
"""

import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType

from webapp.service.components.calls import Call, Reply
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.components.declared.source import ENDING
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.wire import FOLDER, MAX_MESSAGE, SOCKET, Line, command, encode

START_S = 10.0  # how long a runner may take to (re)start before a call gives up
GRACE_S = 15.0  # beyond a call's own deadline: its turn in the queue, and its way back
_NOT_RUNNING = "Components cannot run now, because the runner does not answer. Try again in a moment."
LOST = "The runner ended while the component was working. Run it again."
"""What it did is not known."""
_STUCK = "The runner has too much to do. Try again in a moment."


class Runner:
    """Runs calls. Threads may share one; use :meth:`connect` or :meth:`start`."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._own, self._closed = path, path is None, False
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def connect(cls, path: Path) -> "Runner":
        """The runner that listens at ``path``; whoever made it keeps it alive."""
        return cls(path)

    @classmethod
    def start(cls) -> "Runner":
        """A runner of this process's own. It costs nothing until the first call."""
        return cls(None)

    def call(self, call: Call) -> Reply:
        """Run ``call`` and wait for what comes of it; at the latest a little after its deadline."""
        builder = ReplyBuilder(call)
        try:
            request = encode({"deadline_s": call.deadline_s, "stash": call.stash}) + encode(call.to_json())
        except TypeError:
            return builder.fail("The values given hold something that JSON cannot carry. Check them.")
        if len(request) > MAX_MESSAGE:
            return builder.fail("The values given are too large. Send less.")
        line = self._line(time.monotonic() + call.deadline_s + GRACE_S)
        if line is None:
            return builder.fail(_NOT_RUNNING)
        try:
            line.send(request)
            while not builder.ended:
                builder.take(line.receive())
        except TimeoutError:
            return builder.fail(_STUCK)
        except OSError:
            return builder.fail(LOST)
        finally:
            line.close()
        return builder.reply()

    def close(self) -> None:
        """End a runner of our own, with all that it runs; leave somebody else's alone. Calls after it fail."""
        with self._lock:
            self._closed = True
            self._end()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def _line(self, deadline: float) -> Line | None:
        """A connection to a runner that may be starting just now; None when it does not come up."""
        gives_up = time.monotonic() + START_S
        while time.monotonic() < gives_up:
            path = self._address()
            if path is None:
                return None
            try:
                return Line.open(path, deadline)
            except OSError:
                time.sleep(0.02)
        return None

    def _address(self) -> Path | None:
        """Where the runner listens; ours is started if it does not run. None after :meth:`close`."""
        if not self._own:
            return None if self._closed else self._path
        with self._lock:
            if self._closed:
                return None
            if self._folder is None or not Path(self._folder.name).exists():
                if self._folder is not None:
                    self._folder.cleanup()  # somebody else has removed it
                self._folder = tempfile.TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True)  # mode 0700
            path = Path(self._folder.name) / SOCKET
            if self._process is None or self._process.poll() is not None:
                self._end()
                arguments, environment = command(path, lifeline=0)
                self._process = subprocess.Popen(
                    arguments,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is for us to hear
                )
            return path

    def _end(self) -> None:
        """Close the lifeline, and wait for the process to end."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Executor:
    """Makes calls of components of either kind. Threads may share one."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._interpreter = runner, Interpreter()

    @classmethod
    def start(cls) -> "Executor":
        """One with a runner of this process's own, which costs nothing until the first call of code."""
        return cls(Runner.start())

    def call(self, call: Call) -> Reply:
        """Make ``call`` and wait for what comes of it. A failure is part of the Reply, never an exception."""
        return self._interpreter.call(call) if call.path.endswith(ENDING) else self._runner.call(call)

    def close(self) -> None:
        """End a runner of our own."""
        self._runner.close()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
