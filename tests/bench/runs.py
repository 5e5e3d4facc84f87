"""What a run of a component costs over the bare function, and how many that wait go side by side."""

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from webapp.service.components.calls import Call
from webapp.service.components.runner import Runner

AT_ONCE = 64
WAIT_S = 1.0
_SOURCE = """\
import time
from webapp.service.components.authoring import Action


class Waits(Action):
    def run(self, ctx):
        began = time.monotonic()
        time.sleep(ctx.props.seconds)
        return [began, time.monotonic()]
"""


@dataclass(frozen=True, slots=True)
class Runs:
    """Wall-clock times. ``run_ms`` and ``bare_ms``: one run, and the function alone inside it, as medians;
    ``side_by_side_s``: ``at_once`` runs started together, each of which waits ``wait_s``; ``most_at_once`` of them
    waited at the same moment."""

    run_ms: float
    bare_ms: float
    overhead_ms: float
    at_once: int
    wait_s: float
    side_by_side_s: float
    most_at_once: int

    def text(self) -> str:
        """The lines to print."""
        return (
            f"a run of a component: {self.run_ms:.1f} ms, of which its own function {self.bare_ms:.2f} ms\n"
            f"{self.at_once} runs at once that wait {self.wait_s:g} s each: {self.side_by_side_s:.2f} s in all, "
            f"{self.most_at_once} of them at the same moment"
        )


def measure(count: int) -> Runs:
    """Run a component that does nothing ``count`` times, then up to :data:`AT_ONCE` that wait, as many as ``count``.

    Raises ``RuntimeError``.
    """
    at_once = min(AT_ONCE, count)
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder, Runner.start() as runner:
        path = Path(folder) / "waits" / "1.0.0.py"
        path.parent.mkdir()
        path.write_text(_SOURCE)
        _run(runner, path, 0)  # starts the runner
        times = [_run(runner, path, 0) for _ in range(count)]
        began = time.monotonic()
        with ThreadPoolExecutor(at_once) as pool:
            waits = list(pool.map(lambda _: _run(runner, path, WAIT_S), range(at_once)))
        together = time.monotonic() - began
    run_ms = statistics.median(one.run_ms for one in times)
    bare_ms = statistics.median((one.ended - one.began) * 1000 for one in times)
    return Runs(
        run_ms=round(run_ms, 2),
        bare_ms=round(bare_ms, 3),
        overhead_ms=round(run_ms - bare_ms, 2),
        at_once=at_once,
        wait_s=WAIT_S,
        side_by_side_s=round(together, 2),
        most_at_once=max(sum(other.began <= one.began < other.ended for other in waits) for one in waits),
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """One run: how long it took, and when its function began and ended by the machine's monotonic clock."""

    run_ms: float
    began: float
    ended: float


def _run(runner: Runner, path: Path, seconds: float) -> _Run:
    start = time.monotonic()
    reply = runner.call(Call(path=str(path), props={"seconds": seconds}))
    if reply.error is not None:
        raise RuntimeError(reply.error.message)
    began, ended = reply.value
    return _Run((time.monotonic() - start) * 1000, began, ended)
