"""``make steady``: an hour of mixed requests at a steady pace, to see that memory and the write-ahead log stay flat."""

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path

import click

from tests.bench import load
from tests.bench.calls import Request
from tests.bench.deliveries import receiver
from tests.bench.meter import Client
from tests.bench.scene import email, prepare
from tests.bench.serving import Serve, deploy, serving
from webapp.cli.options import JSON
from webapp.cli.serving.logs import configure
from webapp.settings import Settings

MINUTE_S = 60.0
TARGET_PERCENT, LOG_TARGET_MB = 3.0, 64.0
WARM_UP = 6
"""One in so many samples passes before memory is compared: threads and caches come with the first of the requests."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How it stands ``at_s`` seconds after the start: sizes in MB, memory as the proportional set size of all."""

    at_s: float
    requests: int
    memory_mb: float
    log_mb: float
    database_mb: float

    def text(self) -> str:
        """The line to print."""
        return (
            f"{self.at_s / MINUTE_S:>8.1f} {self.requests:>9,} {self.memory_mb:>10.1f} {self.log_mb:>8.1f} "
            f"{self.database_mb:>12.1f}"
        )


@click.command()
@click.option("--minutes", default=60.0, show_default=True, help="How long.")
@click.option("--pace", default=10.0, show_default=True, help="Requests a second.")
@click.option("--samples", default=24, show_default=True, help="How often it is looked at.")
@JSON
def steady(minutes: float, pace: float, samples: int, as_json: bool) -> None:
    """Ask for the same mixture at one pace, and look at memory and at the log of the database."""
    configure("error")
    with tempfile.TemporaryDirectory(prefix="patchbay-steady-") as folder, receiver() as netloc:
        data = Path(folder)
        settings = Settings.from_env({}, data=data, sandbox=False)
        sceneries = prepare(settings, projects_count=2, account_count=1_000, app_count=100, people_count=1)
        with serving(data, netloc) as server:
            cookie = server.sign_in(email(0))
            with closing(server.client()) as client:
                listener = deploy(client, sceneries[0], sceneries[0].user, f"http://{netloc}/hook")
                mixture = load.mixture(client, sceneries[1], cookie, listener)
                taken = []
                for sample in _taken(server, client, cycle(mixture), data, minutes * MINUTE_S, pace, samples):
                    taken.append(sample)
                    if not as_json:
                        click.echo(sample.text())
    click.echo(json.dumps([asdict(sample) for sample in taken]) if as_json else verdict(taken))


def verdict(taken: list[Sample]) -> str:
    """What the samples say. The last third is compared with the first after the warm-up: a single look is uneven."""
    warm = taken[len(taken) // WARM_UP :]
    third = max(1, len(warm) // 3)
    before, after = (sum(sample.memory_mb for sample in part) / third for part in (warm[:third], warm[-third:]))
    grown, log_mb = (after / before - 1) * 100, max(sample.log_mb for sample in taken)
    return (
        f"memory {before:.1f} MB, then {after:.1f} MB: {grown:+.1f} %, to reach ≤ {TARGET_PERCENT:g} %, "
        f"{'yes' if grown <= TARGET_PERCENT else 'no'}; the log had at most {log_mb:.1f} MB, to reach ≤ "
        f"{LOG_TARGET_MB:g} MB, {'yes' if log_mb <= LOG_TARGET_MB else 'no'}"
    )


def _taken(
    server: Serve, client: Client, requests: Iterator[Request], data: Path, seconds: float, pace: float, samples: int
) -> Iterator[Sample]:
    began, sent = time.monotonic(), 0
    for number in range(1, samples + 1):
        until = began + seconds * number / samples
        while (now := time.monotonic()) < until:
            due = began + sent / pace
            if now < due:
                time.sleep(min(due, until) - now)
                continue
            client.ask(next(requests))
            sent += 1
        log, database = (_mb(data / f"patchbay.db{ending}") for ending in ("-wal", ""))
        yield Sample(round(time.monotonic() - began, 1), sent, round(server.memory_mb(), 1), log, database)


def _mb(path: Path) -> float:
    return round(path.stat().st_size / 1_000_000, 1) if path.exists() else 0.0


if __name__ == "__main__":
    steady()
