"""What a page costs beyond its API calls, and the bytes that a browser fetches for it."""

import re
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.meter import ROUNDS
from tests.bench.serving import unbounded
from webapp.app import create_app
from webapp.cli.serving import process
from webapp.dashboard.client.in_process import InProcess
from webapp.dashboard.client.transport import Answer
from webapp.dashboard.dashboard import KEY, Dashboard
from webapp.service.domain.instance.opening import close_service
from webapp.settings import Settings

BEYOND_MS, WARM_KB, COLD_KB = 4.0, 12.0, 100.0
_FETCHED = re.compile(r'<(?:link|script|img)\b[^>]*?\s(?:href|src)="(/[^"]+)"')


@dataclass(frozen=True, slots=True)
class Split:
    """A page in process: CPU milliseconds for each view, those in its ``calls`` of the API, and kB, compressed: of
    itself (``warm``), and with the styles, scripts, fonts and images that a browser fetches the first time."""

    path: str
    page_ms: float
    calls_ms: float
    calls: float
    warm_kb: float
    cold_kb: float

    def text(self) -> str:
        """The line to print."""
        beyond = self.page_ms - self.calls_ms
        return (
            f"{self.path} in process: {self.page_ms:.2f} ms of CPU, {self.calls_ms:.2f} in {self.calls:g} API calls; "
            f"beyond them {beyond:.2f}, {_verdict(beyond, BEYOND_MS)}; {self.warm_kb:.1f} kB warm, "
            f"{_verdict(self.warm_kb, WARM_KB)}; {self.cold_kb:.0f} kB cold, {_verdict(self.cold_kb, COLD_KB)}"
        )


def splits(data: Path, cookie: str, paths: Sequence[str], count: int) -> list[Split]:
    """Of each of ``paths``, viewed ``count`` times in each round by who signed in to the server over ``data``.

    Garbage is collected from now on as in a process of ``patchbay serve``.
    """
    settings = Settings.from_env({**unbounded(), "PATCHBAY_DATA": str(data), "PATCHBAY_LOG_LEVEL": "error"})
    process.collect_garbage_rarely()
    app = create_app(settings)
    process.freeze_garbage()
    try:
        board: Dashboard = app.extensions[KEY]
        with closing(InProcess(app.wsgi_app)) as sender:
            spent = _Spent(board.client.transport.call)
            board.client.transport.call = spent.call  # type: ignore[method-assign]
            return [_split(_Viewer(sender, settings.public_url, cookie), path, spent, count) for path in paths]
    finally:
        close_service(app.extensions["patchbay"])


class _Spent:
    """Notes the CPU time and the number of calls of ``function``."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.seconds, self.calls = 0.0, 0

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        began = time.thread_time()
        try:
            return self._function(*args, **kwargs)
        finally:
            self.seconds, self.calls = self.seconds + time.thread_time() - began, self.calls + 1


@dataclass(frozen=True, slots=True)
class _Viewer:
    """Somebody who is signed in."""

    sender: InProcess
    url: str
    cookie: str

    def get(self, path: str, headers: Mapping[str, str] = {}) -> Answer:
        """The answer to a request, which must be 200."""
        answer = self.sender.send("GET", self.url + path, {"Cookie": self.cookie, **headers}, b"", 0)
        if answer.status != 200:
            raise RuntimeError(f"GET {path} answered {answer.status}")
        return answer

    def size(self, path: str) -> int:
        """The bytes of the answer's body, compressed where it is for a browser."""
        return len(self.get(path, {"Accept-Encoding": "gzip"}).content)


def _split(viewer: _Viewer, path: str, spent: _Spent, count: int) -> Split:
    page = viewer.get(path).content.decode()
    rounds = list[tuple[float, float, float]]()
    for _ in range(ROUNDS):
        spent.seconds, spent.calls, began = 0.0, 0, time.thread_time()
        for _ in range(count):
            viewer.get(path)
        taken = time.thread_time() - began
        rounds.append((taken / count * 1000, spent.seconds / count * 1000, spent.calls / count))
    warm = viewer.size(path)
    cold = warm + sum(map(viewer.size, sorted(set(_FETCHED.findall(page)))))
    page_ms, calls_ms, calls = (statistics.median(column) for column in zip(*rounds, strict=True))
    return Split(path, page_ms, calls_ms, calls, warm / 1000, cold / 1000)


def _verdict(measured: float, target: float) -> str:
    return f"to reach ≤ {target:g}, {'yes' if measured <= target else 'no'}"
