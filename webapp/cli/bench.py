"""``patchbay bench``: CPU time of API operations beside a bare Flask route that gives the same bytes, and raw SQL."""

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp.app import create_app
from webapp.cli.bench_calls import Operation, Request, operations
from webapp.cli.bench_meter import ROUNDS, Remote, bare, call, either, in_process_ms, served
from webapp.cli.bench_raw import NotingStore, replay_ms
from webapp.cli.bench_runs import measure as measure_runs
from webapp.cli.bench_scene import Scenery, grow, prepare
from webapp.cli.httpd import listen
from webapp.cli.logs import configure
from webapp.cli.options import JSON
from webapp.service.domain.opening import close_service, open_service
from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

WARM_UP = 30
RAW_REQUESTS = 20
MANY, FULL = 100_000, 1_000_000
GROWTH_TARGET = 1.3
LEGEND = """\
CPU milliseconds per request, medians of {rounds} rounds.
app     through the app, without an HTTP server; this is held against the figure to reach
server  the same through the real server: it includes reading and writing HTTP, which "bare server" shows alone
bare    a Flask route that gives the same bytes, without and with the server
raw     the SQL of the operation by sqlite3 alone; what the catalog answers from memory has none
"""


@dataclass(frozen=True, slots=True)
class Result:
    """CPU milliseconds per request of one operation; ``judged_ms`` is what is held against ``target_ms``."""

    operation: str
    bytes: int
    app_ms: float
    bare_app_ms: float
    server_ms: float
    bare_server_ms: float
    raw_sql_ms: float
    judged_ms: float
    target_ms: float | None


@dataclass(frozen=True, slots=True)
class Growth:
    """The same page of accounts from few and from many: CPU milliseconds through the app, and their ratio."""

    accounts: int
    many: int
    app_ms: float
    many_app_ms: float
    ratio: float
    target_ratio: float = GROWTH_TARGET


@click.command()
@click.option("--accounts", default=1_000, show_default=True, help="Accounts to list from.")
@click.option("--many", default=MANY, show_default=True, help="Accounts to list the same page from, to show growth.")
@click.option("--full", is_flag=True, help=f"Show growth to {FULL:,} accounts; takes a few minutes and 1 GB of disk.")
@click.option("--apps", default=3_000, show_default=True, help="Apps in the catalog, beside the built-in ones.")
@click.option("--requests", "count", default=150, show_default=True, help=f"Requests per round; {ROUNDS} rounds each.")
@JSON
def bench(accounts: int, many: int, full: bool, apps: int, count: int, as_json: bool) -> None:
    """Measure API operations against a bare route on the same server. Uses a folder of its own, then removes it."""
    configure("error")
    before = os.getloadavg()[0]
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
            raw = _raw(settings, table, Path(folder) / "raw.db")
            results = _measure(settings, table, answers, raw, remote, count)
        grow(larger.data, scenery, FULL if full else many)
        growth = _growth(settings, larger, table, accounts, FULL if full else many, count)
    runs = measure_runs(count)
    load = [round(before, 2), round(os.getloadavg()[0], 2)]
    if as_json:
        found = {"accounts": accounts, "apps": apps, "load": load, "results": [asdict(one) for one in results]}
        click.echo(json.dumps({**found, "growth": asdict(growth), "runs": asdict(runs)}))
    else:
        _print(results, growth)
        click.echo(runs.text())
        click.echo(f"load average before and after: {load[0]} and {load[1]} on {os.cpu_count()} processors")


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


def _raw(settings: Settings, table: tuple[Operation, ...], copy: Path) -> list[float]:
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
            for _ in range(ROUNDS * RAW_REQUESTS):
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
        for _ in range(WARM_UP):
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
            for _ in range(WARM_UP):
                _answer(app, listing.next(), _host(settings))
        one, other = in_process_ms([(app, listing.next) for app in apps], _host(settings), count)
        return Growth(few, many, round(one, 3), round(other, 3), round(other / one, 2))
    finally:
        for service in services:
            close_service(service)


def _host(settings: Settings) -> str:
    return settings.public_url.partition("://")[2]


def _print(results: list[Result], growth: Growth) -> None:
    click.echo(LEGEND.format(rounds=ROUNDS))
    click.echo(
        f"{'operation':<34} {'bytes':>7} {'app':>7} {'bare':>7} {'server':>7} {'bare server':>12} {'raw':>7} "
        f"{'to reach':>9}  reached"
    )
    for one in results:
        target = "–" if one.target_ms is None else f"≤ {one.target_ms:g}"
        click.echo(
            f"{one.operation:<34} {one.bytes:>7} {one.app_ms:>7.2f} {one.bare_app_ms:>7.2f} {one.server_ms:>7.2f} "
            f"{one.bare_server_ms:>12.2f} {one.raw_sql_ms:>7.2f} {target:>9}  {_verdict(one.judged_ms, one.target_ms)}"
        )
    click.echo(
        f"\ngrowth: the same page from {growth.accounts:,} and from {growth.many:,} accounts costs "
        f"{growth.app_ms:.2f} and {growth.many_app_ms:.2f} in the app: {growth.ratio:.2f} ×, to reach "
        f"≤ {growth.target_ratio:g} ×, {_verdict(growth.ratio, growth.target_ratio)}"
    )


def _verdict(found: float, target: float | None) -> str:
    if target is None:
        return "–"
    return f"yes, {found:.2f}" if found <= target else f"no, {found:.2f}"
