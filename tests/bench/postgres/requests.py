"""``make bench POSTGRES=1``: the CPU of each request over the embedded database and over PostgreSQL, side by side.

The processes of ``patchbay serve`` and those of PostgreSQL's server count together. Rounds take turns, so that what
else goes on meets both. The server's statistics are those of one that runs, and its own housekeeping is left out.
"""

import json
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import psycopg

from tests.bench import partitions
from tests.bench.calls import AGENTS, DECLARED, PEOPLE, PROJECTS, Next, agents, declared, event, operations, pages
from tests.bench.deliveries import receiver
from tests.bench.meter import ROUNDS, children_of, spent_s
from tests.bench.scene import email, prepare
from tests.bench.serving import Listener, Serve, deploy, serving
from webapp.cli.options import JSON
from webapp.cli.serving.logs import configure
from webapp.settings import Settings

TARGET = 2.5
COMPONENT = "/apps/github/actions/github-create-issue"
KEPT, DELIVERED = "an event kept at /h/", "an event, delivered"


@dataclass(frozen=True, slots=True)
class Row:
    """CPU milliseconds per request; ``server_ms`` is the part of ``postgres_ms`` that PostgreSQL's server spent."""

    name: str
    sqlite_ms: float
    postgres_ms: float
    server_ms: float

    @property
    def ratio(self) -> float:
        """What is held against :data:`TARGET`."""
        return self.postgres_ms / self.sqlite_ms

    def text(self) -> str:
        """The line to print."""
        return (
            f"{self.name:<34} {self.sqlite_ms:>7.2f} {self.postgres_ms:>10.2f} {self.server_ms:>10.2f} "
            f"{self.ratio:>7.2f}  {'yes' if self.ratio <= TARGET else 'no'}"
        )


@dataclass(frozen=True, slots=True)
class Side:
    """``patchbay serve`` over one of the databases, whose server is the process ``database``, if it has one."""

    serve: Serve
    database: int | None
    rows: Mapping[str, Next]
    listener: Listener

    def cost_ms(self, name: str, count: int) -> tuple[float, float]:
        """CPU milliseconds per request of all processes, and of the database's server."""
        following = self.rows[name]
        with closing(self.serve.client()) as client:
            client.ask(following())
            arrived = self.listener.delivered(client) if name == DELIVERED else 0
            own, theirs = self.serve.spent_s(), self._database_s()
            for _ in range(count):
                client.ask(following())
            if name == DELIVERED:
                self.listener.wait(client, arrived + count)
            own, theirs = self.serve.spent_s() - own, self._database_s() - theirs
        return (own + theirs) / count * 1000, theirs / count * 1000

    def _database_s(self) -> float:
        return 0.0 if self.database is None else sum(map(spent_s, [self.database, *children_of(self.database)]))


@click.command()
@click.option("--accounts", default=1_000, show_default=True, help="Accounts to list from.")
@click.option("--apps", default=3_000, show_default=True, help="Apps in the catalog, beside the built-in ones.")
@click.option("--requests", "count", default=80, show_default=True, help=f"Requests per round; {ROUNDS} rounds each.")
@JSON
def requests(accounts: int, apps: int, count: int, as_json: bool) -> None:
    """Print each row of the bench over both databases, and how much more PostgreSQL takes."""
    configure("error")
    with ExitStack() as stack:
        netloc = stack.enter_context(receiver())
        url, pid = stack.enter_context(partitions.server("-c autovacuum=off"))
        sides = [
            stack.enter_context(_side(netloc, accounts, apps, None, None)),
            stack.enter_context(_side(netloc, accounts, apps, url, pid)),
        ]
        rows = [_row(name, sides, count) for name in sides[0].rows]
    click.echo(json.dumps([asdict(row) for row in rows]) if as_json else text(rows))


def text(rows: Sequence[Row]) -> str:
    """What to print."""
    reached = sum(row.ratio <= TARGET for row in rows)
    lines = [
        f"CPU milliseconds per request, medians of {ROUNDS} rounds; PostgreSQL's with its server",
        f"{'operation':<34} {'SQLite':>7} {'PostgreSQL':>10} {'its server':>10} {'ratio':>7}  ≤ {TARGET:g} ×",
        *(row.text() for row in rows),
        f"{reached} of {len(rows)} reach ≤ {TARGET:g} ×; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} "
        "processors",
    ]
    return "\n".join(lines)


def _row(name: str, sides: Sequence[Side], count: int) -> Row:
    rounds = [[side.cost_ms(name, count) for side in sides] for _ in range(ROUNDS)]
    sqlite, postgres = zip(*rounds, strict=True)
    medians = (
        statistics.median(column) for column in (*list(zip(*sqlite, strict=True))[:1], *zip(*postgres, strict=True))
    )
    return Row(name, *(round(ms, 3) for ms in medians))


@contextmanager
def _side(netloc: str, accounts: int, apps: int, url: str | None, pid: int | None) -> Iterator[Side]:
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder:
        settings = Settings.from_env({}, data=Path(folder), sandbox=False, database_url=url)
        projects_count = PROJECTS + DECLARED + AGENTS + 2
        sceneries = prepare(
            settings, projects_count=projects_count, account_count=accounts, app_count=apps, people_count=PEOPLE
        )
        if url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        address = {"PATCHBAY_DATABASE_URL": url} if url else {}
        with serving(Path(folder), netloc, **address) as server, closing(server.client()) as client:
            cookies = [server.sign_in(email(number)) for number in range(PEOPLE)]
            first, second, *others = sceneries
            listener = deploy(client, first, first.user, f"http://{netloc}/hook")
            kept = deploy(client, second, second.user, None)
            called = [
                *operations(others),
                *pages(cookies, listener.id, COMPONENT),
                *declared(others[PROJECTS:], netloc),
                *agents(others[PROJECTS + DECLARED :], netloc),
            ]
            rows = {operation.name: operation.next for operation in called}
            rows |= {KEPT: event(kept.path), DELIVERED: event(listener.path)}
            yield Side(server, pid, rows, listener)


if __name__ == "__main__":
    requests()
