"""``patchbay bench``: CPU time of API operations beside a bare Flask route that gives the same bytes."""

import json
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp.app import create_app
from webapp.cli.bench_calls import Operation, Request, operations
from webapp.cli.bench_meter import Remote, bare, call, either, in_process_ms, served
from webapp.cli.bench_scene import Scenery, prepare
from webapp.cli.httpd import listen
from webapp.cli.logs import configure
from webapp.cli.options import JSON
from webapp.service.domain.opening import close_service, open_service
from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

WARM_UP = 30


@dataclass(frozen=True, slots=True)
class Result:
    """CPU milliseconds per request of one operation; ``ratio`` is server over bare server."""

    operation: str
    bytes: int
    app_ms: float
    bare_app_ms: float
    server_ms: float
    bare_server_ms: float
    ratio: float
    over_bare_ms: float
    target_ms: float | None


@click.command()
@click.option("--accounts", default=1_000, show_default=True, help="Accounts to list from.")
@click.option("--apps", default=3_000, show_default=True, help="Apps in the catalog, beside the built-in ones.")
@click.option("--requests", "count", default=400, show_default=True, help="Requests per round; three rounds each.")
@JSON
def bench(accounts: int, apps: int, count: int, as_json: bool) -> None:
    """Measure API operations against a bare route on the same server. Uses a folder of its own, then removes it."""
    configure("error")
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder:
        sockets = listen("127.0.0.1", 0)
        port: int = sockets[0].getsockname()[1]
        settings = Settings.from_env({}, data=Path(folder), port=port, sandbox=False)
        scenery = prepare(settings, account_count=accounts, app_count=apps)
        answers, connect_token = _answers(settings, scenery)
        with served(partial(_both, settings, answers), sockets, settings.threads) as remote:
            for one in sockets:
                one.close()
            results = _measure(settings, operations(scenery, connect_token), answers, remote, count)
    if as_json:
        click.echo(json.dumps({"accounts": accounts, "apps": apps, "results": [asdict(one) for one in results]}))
    else:
        _print(results)


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


def _measure(
    settings: Settings, table: tuple[Operation, ...], answers: list[tuple[str, bytes]], remote: Remote, count: int
) -> list[Result]:
    service = open_service(settings)
    try:
        app = either(create_app(settings, service=service), bare(answers))
        return [
            _result(app, _host(settings), remote, one, number, len(answers[number][1]), count)
            for number, one in enumerate(table)
        ]
    finally:
        close_service(service)


def _result(
    app: "WSGIApplication", host: str, remote: Remote, measured: Operation, number: int, size: int, count: int
) -> Result:
    """Both sides of one operation, one after the other in the same minute."""

    def plain() -> Request:
        like = measured.next()
        return Request(like.method, f"/bare/{number}", like.headers, like.body)

    for following in (measured.next, plain):
        for _ in range(WARM_UP):
            call(app, following(), host)
            if remote.ask(following()) != 200:
                raise RuntimeError(f"{measured.name} failed on the server")
    app_ms, bare_app_ms = (in_process_ms(app, one, host, count) for one in (measured.next, plain))
    server_ms, bare_server_ms = (remote.cpu_ms(one, count) for one in (measured.next, plain))
    return Result(
        operation=measured.name,
        bytes=size,
        app_ms=round(app_ms, 3),
        bare_app_ms=round(bare_app_ms, 3),
        server_ms=round(server_ms, 3),
        bare_server_ms=round(bare_server_ms, 3),
        ratio=round(server_ms / bare_server_ms, 2),
        over_bare_ms=round(server_ms - bare_server_ms, 3),
        target_ms=measured.target_ms,
    )


def _host(settings: Settings) -> str:
    return settings.public_url.partition("://")[2]


def _print(results: list[Result]) -> None:
    click.echo("CPU milliseconds per request; bare is a Flask route on the same server that gives the same bytes.\n")
    click.echo(f"{'operation':<34} {'bytes':>7} {'app':>7} {'server':>7} {'bare':>7} {'ratio':>6} {'to reach':>9}")
    for one in results:
        target = "–" if one.target_ms is None else f"≤ {one.target_ms:g}"
        click.echo(
            f"{one.operation:<34} {one.bytes:>7} {one.app_ms:>7.2f} {one.server_ms:>7.2f} {one.bare_server_ms:>7.2f} "
            f"{one.ratio:>6.1f} {target:>9}"
        )
