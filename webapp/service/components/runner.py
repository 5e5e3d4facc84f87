"""The client of the runner: :class:`Runner` sends a Call and returns the Reply. Threads may share it.

A runner belongs either to another process (:meth:`Runner.connect`: the supervisor keeps it alive, and calls wait while
it restarts) or to this one (:meth:`Runner.start`: started with the first call, restarted if it dies, stopped by
:meth:`Runner.close`). A failure is part of the Reply, never an exception.
"""

import subprocess
import tempfile
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType

from webapp.kit.cancellation import CURRENT
from webapp.kit.slots import this_thread
from webapp.service.components.broker import Broker
from webapp.service.components.calls import Call, Reply
from webapp.service.components.child_calls import for_child, reads_secrets
from webapp.service.components.confinement.confinement import Measure
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.wire import FOLDER, MAX_MESSAGE, SOCKET, Line, command, encode

START_S = 10.0  # how long a call waits for a runner that is starting
GRACE_S = 15.0  # added to a call's own deadline, for queueing and for the reply
_NOT_RUNNING = "Components cannot run now, because the runner does not answer. Try again in a moment."
LOST = "The runner ended while the component was working. Run it again."  # whatever it did is unknown
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
        """Return a client of the runner that listens at ``path``, which another process keeps alive."""
        return cls(path)

    @classmethod
    def start(cls) -> "Runner":
        """Return a runner of this process. It is started with the first call."""
        return cls(None)

    def call(self, call: Call) -> Reply:
        """Make ``call`` and return its Reply, at the latest a little after its deadline."""
        builder = ReplyBuilder(call)
        try:
            relay = call.method != "declare" and reads_secrets(Path(call.path))
            head = {"deadline_s": call.deadline_s, "stash": call.stash, "relay": relay}
            request = encode(head) + encode(for_child(call))
        except TypeError:
            return builder.fail("The values contain something that JSON cannot represent. Check them.")
        if len(request) > MAX_MESSAGE:
            return builder.fail("The values given are too large. Send less.")
        with this_thread.waiting:
            return self._asked(call, builder, request)

    def _asked(self, call: Call, builder: ReplyBuilder, request: bytes) -> Reply:
        line = self.line(time.monotonic() + call.deadline_s + GRACE_S)
        if line is None:
            return builder.fail(_NOT_RUNNING)
        broker = Broker(call, builder.take)
        try:
            line.send(request, broker.far.fileno())
            broker.far.close()
            work = CURRENT.get()
            with work.stopping(line.stop) if work else nullcontext():
                while not builder.ended:
                    builder.take_from_child(line.receive(broker))
        except TimeoutError:
            return builder.fail(_STUCK)
        except OSError:
            return builder.fail(LOST)
        finally:
            line.close()
            broker.close()
        return builder.reply()

    def confinement(self) -> list[Measure]:
        """How this machine confines Python components; empty if no runner was started. Raises ``OSError``."""
        if self._own and self._process is None:
            return []
        line = self.line(time.monotonic() + START_S)
        if line is None:
            raise OSError(_NOT_RUNNING)
        try:
            line.send(encode({"deadline_s": START_S, "report": True}))
            return [Measure(**fields) for fields in line.receive()["confinement"]]
        finally:
            line.close()

    def close(self) -> None:
        """Stop the runner and its calls if it belongs to this process. Later calls fail."""
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

    def line(self, deadline: float) -> Line | None:
        """Connect to the runner, waiting while it starts; None if it does not start before ``deadline``."""
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
        """The path of the runner's socket. Our own runner is started if necessary. None after :meth:`close`."""
        if not self._own:
            return None if self._closed else self._path
        with self._lock:
            if self._closed:
                return None
            if self._folder is None or not Path(self._folder.name).exists():
                if self._folder is not None:
                    self._folder.cleanup()  # another process has removed it
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
                    start_new_session=True,  # Ctrl-C goes to this process only
                )
            return path

    def _end(self) -> None:
        """Close the lifeline and wait until the process has exited."""
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
