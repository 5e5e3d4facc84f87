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
        began = time.perf_counter()
        time.sleep(ctx.props.seconds)
        return (time.perf_counter() - began) * 1000
"""


@dataclass(frozen=True, slots=True)
class Runs:
    """Wall-clock times. ``run_ms`` and ``bare_ms``: one run, and the function alone inside it, as medians;
    ``side_by_side_s``: ``at_once`` runs started together, each of which waits ``wait_s``."""

    run_ms: float
    bare_ms: float
    overhead_ms: float
    at_once: int
    wait_s: float
    side_by_side_s: float

    def text(self) -> str:
        """The lines to print."""
        return (
            f"a run of a component: {self.run_ms:.1f} ms, of which its own function {self.bare_ms:.2f} ms\n"
            f"{self.at_once} runs at once that wait {self.wait_s:g} s each: {self.side_by_side_s:.2f} s in all"
        )


def measure(count: int) -> Runs:
    """Run a component that does nothing ``count`` times, then :data:`AT_ONCE` that wait. Raises ``RuntimeError``."""
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder, Runner.start() as runner:
        path = Path(folder) / "waits" / "1.0.0.py"
        path.parent.mkdir()
        path.write_text(_SOURCE)
        _timed(runner, path, 0)  # starts the runner
        times = [_timed(runner, path, 0) for _ in range(count)]
        began = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda _: _timed(runner, path, WAIT_S), range(AT_ONCE)))
        together = time.perf_counter() - began
    run_ms, bare_ms = (statistics.median(column) for column in zip(*times, strict=True))
    return Runs(
        run_ms=round(run_ms, 2),
        bare_ms=round(bare_ms, 3),
        overhead_ms=round(run_ms - bare_ms, 2),
        at_once=AT_ONCE,
        wait_s=WAIT_S,
        side_by_side_s=round(together, 2),
    )


def _timed(runner: Runner, path: Path, seconds: float) -> tuple[float, float]:
    began = time.perf_counter()
    reply = runner.call(Call(path=str(path), props={"seconds": seconds}))
    if reply.error is not None:
        raise RuntimeError(reply.error.message)
    return (time.perf_counter() - began) * 1000, reply.value
