"""``make bench``: what operations cost, beside a bare Flask route that gives the same bytes, and beside raw SQL."""

import json
import os
import shutil
import tempfile
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tests.bench.calls import Operation, Request, operations
from tests.bench.deliveries import measure as measure_deliveries
from tests.bench.meter import ROUNDS, Remote, bare, call, either, in_process_ms, served
from tests.bench.raw import NotingStore, replay_ms
from tests.bench.report import Growth, Result, text
from tests.bench.runs import measure as measure_runs
from tests.bench.scene import Scenery, grow, prepare
from tests.bench.serve import measure as measure_serve
from tests.bench.timers import measure as measure_timers
from webapp.app import create_app
from webapp.cli.options import JSON
from webapp.cli.serving.listening import listen
from webapp.cli.serving.logs import configure
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

WARM_UP = 30
RAW_REQUESTS = 20
MANY, FULL = 100_000, 1_000_000
TIMERS, IDLE_S = 10_000, 10.0


@click.command()
@click.option("--accounts", default=1_000, show_default=True, help="Accounts to list from.")
@click.option("--many", default=MANY, show_default=True, help="Accounts to list the same page from, to show growth.")
@click.option(
    "--full", is_flag=True, help=f"Show growth to {FULL:,} accounts and events; takes minutes and 2 GB of disk."
)
@click.option("--apps", default=3_000, show_default=True, help="Apps in the catalog, beside the built-in ones.")
@click.option("--timers", default=TIMERS, show_default=True, help="Timers that are due at one moment.")
@click.option("--idle", default=IDLE_S, show_default=True, help="Seconds for which an idle worker is watched.")
@click.option("--requests", "count", default=150, show_default=True, help=f"Requests per round; {ROUNDS} rounds each.")
@JSON
def bench(accounts: int, many: int, full: bool, apps: int, timers: int, idle: float, count: int, as_json: bool) -> None:
    """Measure API operations against a bare route on the same server, deliveries, timers and a server at rest.

    Uses folders of its own, then removes them.
    """
    configure("error")
    before, many = os.getloadavg()[0], FULL if full else many
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder:
        sockets = listen("127.0.0.1", 0)
        port: int = sockets[0].getsockname()[1]
        settings = Settings.from_env({}, data=Path(folder) / "few", port=port, sandbox=False)
        scenery = prepare(settings, account_count=accounts, app_count=apps)
        larger = replace(settings, data=Path(folder) / "many")
        shutil.copytree(settings.data, larger.data)
        answers, connect_token = _answers(settings, scenery)
        with served(partial(_both, settings, answers), sockets, settings.threads) as remote:
            for one in sockets:
                one.close()
            table = operations(scenery, connect_token)
            raw = _raw(settings, table, Path(folder) / "raw.db", min(RAW_REQUESTS, count))
            results = _measure(settings, table, answers, raw, remote, count)
        grow(larger.data, scenery, many)
        growth = _growth(settings, larger, table, accounts, many, count)
        found = {
            "accounts": accounts,
            "apps": apps,
            "results": [asdict(one) for one in results],
            "growth": asdict(growth),
            "runs": asdict(measure_runs(count)),
            "deliveries": asdict(measure_deliveries(settings.data, count, many)),
            "timers": asdict(measure_timers(settings.data, timers)),
            "serve": asdict(measure_serve(settings.data, scenery, count, idle)),
            "load": [round(before, 2), round(os.getloadavg()[0], 2)],
        }
    click.echo(json.dumps(found) if as_json else text(found))


def _answers(settings: Settings, scenery: Scenery) -> tuple[list[tuple[str, bytes]], str]:
    """What each operation answers (content type, body), and a Connect token to check; before anything forks."""
    host = _host(settings)
    service = open_service(settings)
    try:
        app = create_app(settings, service=service)
        made = json.loads(_answer(app, operations(scenery, "")[0].next(), host)[1])
        table = operations(scenery, made["token"])
        return [_answer(app, one.next(), host) for one in table], made["token"]
    finally:
        close_service(service)


def _answer(app: "WSGIApplication", wanted: Request, host: str) -> tuple[str, bytes]:
    status, content_type, body = call(app, wanted, host)
    if not status.startswith("200"):
        raise RuntimeError(f"{wanted.method} {wanted.path} answered {status}: {body[:300]!r}")
    return content_type, body


def _both(settings: Settings, answers: list[tuple[str, bytes]]) -> "WSGIApplication":
    return either(create_app(settings), bare(answers))


def _raw(settings: Settings, table: tuple[Operation, ...], copy: Path, count: int) -> list[float]:
    """The cost of each operation's SQL by sqlite3 alone, on a copy of the database."""
    service = open_service(settings)
    try:
        service.store.checkpoint()
        shutil.copyfile(settings.data / "patchbay.db", copy)
        noting = NotingStore(service.store)
        app = create_app(settings, service=replace(service, store=noting))
        found = []
        for operation in table:
            requests = []
            for _ in range(ROUNDS * count):
                noting.notes.clear()
                _answer(app, operation.next(), _host(settings))
                requests.append(list(noting.notes))
            found.append(replay_ms(copy, requests, ROUNDS))
        return found
    finally:
        close_service(service)


def _measure(
    settings: Settings,
    table: tuple[Operation, ...],
    answers: list[tuple[str, bytes]],
    raw: list[float],
    remote: Remote,
    count: int,
) -> list[Result]:
    service = open_service(settings)
    try:
        app = either(create_app(settings, service=service), bare(answers))
        return [
            _result(app, _host(settings), remote, one, number, len(answers[number][1]), raw[number], count)
            for number, one in enumerate(table)
        ]
    finally:
        close_service(service)


def _result(
    app: "WSGIApplication",
    host: str,
    remote: Remote,
    measured: Operation,
    number: int,
    size: int,
    raw_ms: float,
    count: int,
) -> Result:
    """Both sides of one operation, taking turns in the same minute."""

    def plain() -> Request:
        like = measured.next()
        return Request(like.method, f"/bare/{number}", like.headers, like.body)

    for following in (measured.next, plain):
        for _ in range(min(WARM_UP, count)):
            call(app, following(), host)
            if remote.ask(following()) != 200:
                raise RuntimeError(f"{measured.name} failed on the server")
    app_ms, bare_app_ms = in_process_ms([(app, measured.next), (app, plain)], host, count)
    server_ms, bare_server_ms = remote.cpu_ms([measured.next, plain], count)
    return Result(
        operation=measured.name,
        bytes=size,
        app_ms=round(app_ms, 3),
        bare_app_ms=round(bare_app_ms, 3),
        server_ms=round(server_ms, 3),
        bare_server_ms=round(bare_server_ms, 3),
        raw_sql_ms=round(raw_ms, 3),
        judged_ms=round(app_ms - bare_app_ms if measured.beyond_bare else app_ms, 3),
        target_ms=measured.target_ms,
    )


def _growth(
    settings: Settings, larger: Settings, table: tuple[Operation, ...], few: int, many: int, count: int
) -> Growth:
    """The list of accounts from both folders, taking turns."""
    (listing,) = [one for one in table if one.name.startswith("list")]
    services = open_service(settings), open_service(larger)
    try:
        apps = [create_app(settings, service=service) for service in services]
        for app in apps:
            for _ in range(min(WARM_UP, count)):
                _answer(app, listing.next(), _host(settings))
        one, other = in_process_ms([(app, listing.next) for app in apps], _host(settings), count)
        return Growth(few, many, round(one, 3), round(other, 3), round(other / one, 2))
    finally:
        for service in services:
            close_service(service)


def _host(settings: Settings) -> str:
    return settings.public_url.partition("://")[2]


if __name__ == "__main__":
    bench()
