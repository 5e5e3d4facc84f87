"""``make mutants``: makes each mutant's sentence false in a copy of the project; do the cited tests notice?

Only the tests that the mutant's row of ``tests/SPEC.md`` cites are run. A mutant is *noticed* when at least one of them
fails, *survives* when all pass, and is *broken* when they cannot even be collected or their fixtures made. Cited tests
that pass on a noticed mutant are named as idle: they may show another part of the sentence. Ends with 1 unless all are
noticed.
"""

import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import click

from tests.mutants.mutant import Mutant, every, source_of
from tests.mutants.spec_rows import ROOT
from tests.once.catalog import DECLARED, FRESH

TIMEOUT_S = 180
SIDE_BY_SIDE = ("-n", "2")  # what has all cited tests run on both cores
DECLARING = ("webapp/service/catalog/", "webapp/service/components/")
"""Where what components declare is read."""
_FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: ``noticed``, ``survived`` or ``broken``; the cited tests that passed; pytest's end."""

    mutant: Mutant
    outcome: str
    idle: tuple[str, ...] = ()
    output: str = ""


@click.command()
@click.option("--section", "prefix", default="", help="Only mutants of sections that begin so, such as 4.8.")
@click.option("--row", default="", help="Only mutants whose row begins so.")
@click.option("--jobs", default=2, show_default=True, help="How many mutants are tried side by side.")
@click.option("--idle", "show_idle", is_flag=True, help="Name the cited tests that pass on a noticed mutant.")
def mutants(prefix: str, row: str, jobs: int, show_idle: bool) -> None:
    """Make sentences of the specification false, one at a time, and see whether their tests notice."""
    chosen = [mutant for mutant in every() if mutant.section.startswith(prefix) and mutant.row.startswith(row)]
    if not chosen:
        raise click.ClickException("No mutant is of that section and row.")
    with tempfile.TemporaryDirectory(prefix="patchbay-mutants-") as folder:
        copies = [_copy(Path(folder) / str(number)) for number in range(jobs)]
        _demand_green(copies[0], chosen)
        verdicts = _try_all(chosen, copies, show_idle)
    counts = {name: sum(verdict.outcome == name for verdict in verdicts) for name in ("noticed", "survived", "broken")}
    click.echo(", ".join(f"{count} {name}" for name, count in counts.items()))
    sys.exit(counts["noticed"] != len(verdicts))


def _copy(folder: Path) -> Path:
    """A copy of the project's files as they stand, which may be changed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if (ROOT / "static" / "vendor").is_dir():
        (folder / "static" / "vendor").symlink_to(ROOT / "static" / "vendor")
    DECLARED.parent.mkdir(exist_ok=True)
    (folder / DECLARED.parent.name).symlink_to(DECLARED.parent)
    return folder


def _demand_green(copy: Path, chosen: list[Mutant]) -> None:
    """A test that fails without any mutation notices nothing."""
    cited = sorted({test for mutant in chosen for test in mutant.cites.tests})
    done = _pytest(copy, cited, *SIDE_BY_SIDE)
    if done.returncode:
        raise click.ClickException(f"The cited tests fail without a mutation:\n{done.stdout[-3000:]}")


def _try_all(chosen: list[Mutant], copies: list[Path], show_idle: bool) -> list[Verdict]:
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in chosen:
        waiting.put(mutant)
    verdicts: list[Verdict] = []

    def work(copy: Path) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            verdict = _try(copy, mutant)
            verdicts.append(verdict)
            _tell(verdict, show_idle)

    threads = [threading.Thread(target=work, args=(copy,)) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return verdicts


def _try(copy: Path, mutant: Mutant) -> Verdict:
    source = source_of(mutant, copy)
    _write(copy / mutant.file, mutant.mutated(source))
    try:
        done = _pytest(copy, list(mutant.cites.tests), fresh=mutant.file.startswith(DECLARING))
    except subprocess.TimeoutExpired:
        return Verdict(mutant, "broken", output=f"Its tests took longer than {TIMEOUT_S} seconds.")
    finally:
        _write(copy / mutant.file, source)
    if done.returncode == 0:
        return Verdict(mutant, "survived")
    failed = {name.split("[")[0] for name in _FAILED.findall(done.stdout)}
    if done.returncode != 1 or not failed:
        return Verdict(mutant, "broken", output=done.stdout[-1500:] + done.stderr[-1500:])
    return Verdict(mutant, "noticed", tuple(test for test in mutant.cites.tests if test not in failed))


def _write(place: Path, source: str) -> None:
    """Writes a module without the bytecode of what stood there: within a second, Python would take that for new."""
    place.write_text(source, "utf-8")
    for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"):
        compiled.unlink()


def _pytest(copy: Path, tests: list[str], *options: str, fresh: bool = False) -> subprocess.CompletedProcess[str]:
    """Whatever their markers; without the plugin of Schemathesis, which is slow to load and which no test needs.

    A ``fresh`` run does not know from earlier ones what components declare.
    """
    without = ["-m", "", "-p", "no:cacheprovider", "-p", "no:schemathesis"]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-rfE", *without, *options, *tests]
    env = {**os.environ, "PYTHONPATH": str(copy)} | ({FRESH: "1"} if fresh else {})
    limit = None if options else TIMEOUT_S
    return subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=limit)


def _tell(verdict: Verdict, show_idle: bool) -> None:
    mutant = verdict.mutant
    click.echo(f"{verdict.outcome:9} {mutant.section:5} {mutant.row}  ({mutant.file})")
    if verdict.outcome == "survived":
        click.echo("".join(f"            {test}\n" for test in mutant.cites.tests), nl=False)
    elif show_idle:
        click.echo("".join(f"            idle: {test}\n" for test in verdict.idle), nl=False)
    if verdict.output:
        click.echo(verdict.output)


if __name__ == "__main__":
    mutants()
