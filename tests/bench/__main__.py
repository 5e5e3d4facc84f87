"""``make bench``: what operations and pages cost, beside a bare Flask route that gives the same bytes, and raw SQL."""

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import click

from tests.bench import growth, load, raw, tool_servers, tools
from tests.bench.calls import (
    AGENTS,
    DECLARED,
    PEOPLE,
    PROJECTS,
    Operation,
    Request,
    agents,
    declared,
    event,
    operations,
    pages,
)
from tests.bench.deliveries import measure as measure_deliveries
from tests.bench.deliveries import receiver
from tests.bench.meter import ROUNDS, Server, medians, p95, serving_bare, wall_ms
from tests.bench.pieces import measure as measure_pieces
from tests.bench.report import MANY_CLIENTS, Ingestion, Result, text
from tests.bench.runs import measure as measure_runs
from tests.bench.scene import Scenery, email, prepare
from tests.bench.serving import Listener, Serve, deploy, serving
from tests.bench.timers import measure as measure_timers
from webapp.cli.options import JSON
from webapp.cli.serving.logs import configure
from webapp.settings import Settings

RAW_REQUESTS = 20
FEW, MANY, FULL = 1_000, 100_000, 1_000_000
EVENTS = 3
COMPONENT = "/apps/github/actions/github-create-issue"


@click.command()
@click.option("--accounts", default=1_000, show_default=True, help="Accounts to list from.")
@click.option("--many", default=MANY, show_default=True, help="Rows of others among which lists and claims are made.")
@click.option("--full", is_flag=True, help=f"{FULL:,} of them; takes minutes and 3 GB of disk.")
@click.option("--apps", default=3_000, show_default=True, help="Apps in the catalog, beside the built-in ones.")
@click.option(
    "--operations",
    "imported",
    default=tools.OPERATIONS,
    show_default=True,
    help="Imported operations among which tools are searched.",
)
@click.option("--timers", default=10_000, show_default=True, help="Timers that are due at one moment.")
@click.option("--idle", default=10.0, show_default=True, help="Seconds for which an idle worker is watched.")
@click.option("--requests", "count", default=80, show_default=True, help=f"Requests per round; {ROUNDS} rounds each.")
@click.option("--load", "mixed", default=100_000, show_default=True, help="Requests after which memory is measured.")
@JSON
def bench(
    accounts: int,
    many: int,
    full: bool,
    apps: int,
    imported: int,
    timers: int,
    idle: float,
    count: int,
    mixed: int,
    as_json: bool,
) -> None:
    """Measure the API, pages, deliveries, timers and a server at rest, each against a figure to reach.

    Uses folders of its own, then removes them. A request that is not answered as it should be ends it.
    """
    configure("error")
    before, many = os.getloadavg()[0], FULL if full else many
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder, receiver() as netloc:
        data = Path(folder) / "data"
        settings = Settings.from_env({}, data=data, sandbox=False)
        sceneries = prepare(
            settings,
            projects_count=PROJECTS + DECLARED + AGENTS + 1,
            account_count=accounts,
            app_count=apps,
            people_count=PEOPLE,
        )
        raw_ms = raw.measure(settings, operations(sceneries[1:]), Path(folder) / "raw.db", min(RAW_REQUESTS, count))
        with serving(data, netloc) as server:
            url = f"http://{netloc}/hook"
            results, listener, cookie = _results(server, sceneries, raw_ms, url, count)
            ingestion = _ingestion(server, listener, EVENTS * count)
            events = load.run(server.port, sceneries[1], cookie, listener, mixed)
            with closing(server.client()) as client:
                listener.wait(client, EVENTS * count + events + count)
            rest = server.at_rest(mixed, events, idle)
        measured = {
            "accounts": accounts,
            "apps": apps,
            "results": [asdict(result) for result in results],
            "tools": asdict(tools.measure(Path(folder), imported)),
            "growth": asdict(growth.measure(Path(folder), FEW, many, count)),
            "runs": asdict(measure_runs(count)),
            "pieces": asdict(measure_pieces(count)),
            "tool_servers": asdict(tool_servers.measure(count)),
            "ingestion": asdict(ingestion),
            "deliveries": asdict(measure_deliveries(data, count, many)),
            "timers": asdict(measure_timers(data, timers)),
            "rest": asdict(rest),
            "load": [round(before, 2), round(os.getloadavg()[0], 2)],
        }
    click.echo(json.dumps(measured) if as_json else text(measured))


def _results(
    server: Serve, sceneries: Sequence[Scenery], raw_ms: Sequence[float], url: str, count: int
) -> tuple[list[Result], Listener, str]:
    """Every operation and page, the person's trigger, which has had ``count`` events, and the cookie of the
    person whose it is."""
    first, *others = sceneries
    cookies = [server.sign_in(email(number)) for number in range(PEOPLE)]
    with closing(server.client()) as client:
        listener = deploy(client, first, first.user, url)
        following = event(listener.path)
        for _ in range(count):
            client.ask(following())
        listener.wait(client, count)
        netloc = urlsplit(url).netloc
        called = [*declared(others[PROJECTS:], netloc), *agents(others[PROJECTS + DECLARED :], netloc)]
        table = [*operations(others), *pages(cookies, listener.id, COMPONENT), *called]
        answers = [client.answer(operation.next()) for operation in table]
    bytes_of = [(headers["Content-Type"], body) for headers, body in answers]
    costs = [*raw_ms, *[None] * (len(table) - len(raw_ms))]
    with serving_bare(bytes_of, threads=4) as bare:
        results = [
            _result(server, bare, operation, number, len(bytes_of[number][1]), costs[number], count)
            for number, operation in enumerate(table)
        ]
    return results, listener, cookies[0]


def _result(
    server: Server, bare: Server, measured: Operation, number: int, size: int, raw_ms: float | None, count: int
) -> Result:
    """All sides of one operation, taking turns in the same minute."""

    def plain() -> Request:
        like = measured.next()
        return Request(like.method, f"/bare/{number}", like.headers, like.body)

    one, eight, bare_ms = medians(
        [
            lambda: server.cpu_ms(measured.next, count),
            lambda: server.cpu_ms_of_many(measured.next, count, MANY_CLIENTS),
            lambda: bare.cpu_ms(plain, count),
        ]
    )
    return Result(
        operation=measured.name,
        bytes=size,
        one_ms=round(one, 3),
        many_ms=round(eight, 3),
        bare_ms=round(bare_ms, 3),
        raw_sql_ms=None if raw_ms is None else round(raw_ms, 3),
        judged_ms=round(one - bare_ms if measured.beyond_bare else one, 3),
        target_ms=measured.target_ms,
    )


def _ingestion(server: Serve, listener: Listener, count: int) -> Ingestion:
    following = event(listener.path)
    with closing(server.client()) as client:
        before, began = listener.delivered(client), server.spent_s()
        times = [wall_ms(client, following()) for _ in range(count)]
        listener.wait(client, before + count)
        spent_ms = (server.spent_s() - began) / count * 1000
    return Ingestion(events=count, cpu_ms=round(spent_ms, 3), p95_ms=round(p95(times), 2))


if __name__ == "__main__":
    bench()
