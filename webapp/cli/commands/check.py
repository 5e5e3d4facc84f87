"""``patchbay check``: looks at everything that can keep an installation from working, and says what to do."""

import socket
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Literal

import click

from webapp import quotas
from webapp.cli.options import JSON, sentence_of, settings_from_env, show
from webapp.cli.serving.listening import listen, reason
from webapp.kit.clock import now
from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import Places, read
from webapp.service.domain.instance import instance_key
from webapp.service.domain.triggers import deployed_triggers
from webapp.setting_completion import is_loopback
from webapp.settings import BadSetting, Settings
from webapp.store.contract import megabytes
from webapp.store.sqlite import SQLiteStore

CHECKPOINTS_FIXED = (3, 51, 3)
Verdict = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look gave."""

    subject: str
    verdict: Verdict
    sentence: str


@click.command()
@JSON
def check(as_json: bool) -> None:
    """Look at settings, keys, database, catalog, permissions and ports. Exit code 1 when something is wrong."""
    findings = list(_findings())
    healthy = all(finding.verdict != "problem" for finding in findings)
    if as_json:
        show({"ok": healthy, "findings": [asdict(finding) for finding in findings]}, True)
    else:
        for finding in findings:
            click.echo(f"{finding.verdict:<7}  {finding.subject}: {finding.sentence}")
    raise SystemExit(0 if healthy else 1)


def _findings() -> Iterator[Finding]:
    try:
        settings = settings_from_env()
    except BadSetting as error:
        yield Finding("settings", "problem", str(error))
        return
    yield Finding("settings", "ok", f"People reach the service at {settings.public_url}.")
    yield _sqlite()
    for subject, look in _LOOKS:
        try:
            yield from (Finding(subject, verdict, sentence) for verdict, sentence in look(settings))
        except Exception as error:
            yield Finding(subject, "problem", sentence_of(error) or f"{type(error).__name__}: {error}")


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= CHECKPOINTS_FIXED:
        return Finding("SQLite", "ok", f"Version {version}.")
    return Finding(
        "SQLite",
        "note",
        f"Version {version}. Before 3.51.3, two checkpoints at once can damage the database; Patchbay leaves them to "
        "its one worker, so run one worker for each data folder and no other program that writes to the database.",
    )


Looks = Iterator[tuple[Verdict, str]]


def _folder(settings: Settings) -> Looks:
    if not settings.data.exists():
        yield "note", f"{settings.data} does not exist yet; `patchbay serve` makes it."
        return
    for name in ("keys", "patchbay.db"):
        path = settings.data / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield "problem", f"Others on this machine can read {path}; run `chmod 600 {path}`."
            return
    yield "ok", f"{settings.data} is there, and its secrets are readable by their owner alone."


def _database(settings: Settings) -> Looks:
    path = settings.database
    if not path.exists():
        yield "note", "There is no database yet; `patchbay serve` makes it."
        return
    with closing(SQLiteStore(path)) as store:
        pending = store.pending()
        if pending:
            yield "note", f"{len(pending)} migrations wait; `patchbay serve` and `patchbay migrate` apply them."
            return
        yield "ok", "The schema is up to date."
        instance_key.proven(settings, store, now)
        yield "ok", "The instance key opens it."


def _proxy(settings: Settings) -> Looks:
    if is_loopback(settings.host) and not settings.loopback and not settings.trusted_proxies:
        yield (
            "note",
            f"Only this machine can call {settings.host}, so a proxy must forward what comes to {settings.public_url}; "
            "name it in PATCHBAY_TRUSTED_PROXIES, or limits cannot tell a stranger from anybody else.",
        )


def _disk(settings: Settings) -> Looks:
    path = settings.data / "patchbay.db"
    if not path.exists():
        return
    with closing(SQLiteStore(path)) as store:
        sizes = store.sizes()
    free = "" if sizes.free is None else f" {megabytes(sizes.free)} are free in {settings.data}."
    yield "ok", f"The database has {megabytes(sizes.database)}, its log {megabytes(sizes.log)}.{free}"
    if sizes.log_is_large:
        yield "note", "The log cannot be folded: end the program that has been reading the database for long."
    if sizes.room_is_short:
        yield "note", "Little room is left; make some before nothing can be written."


def _quotas(settings: Settings) -> Looks:
    path = settings.data / "patchbay.db"
    if not path.exists():
        return
    with closing(SQLiteStore(path)) as store:
        if store.pending():
            return
        counts = deployed_triggers.fullest(store)
    rows = zip(("user", "project"), (quotas.USER_TRIGGERS, quotas.PROJECT_TRIGGERS), counts, strict=True)
    for owner, quota, count in rows:
        limit = settings.quotas[quota.name]
        full = count >= limit
        raised = f" Raise PATCHBAY_{quota.name} if that is too few." if full else ""
        yield "note" if full else "ok", f"The {owner} with the most triggers has {count:,} of {limit:,}.{raised}"


def _catalog(settings: Settings) -> Looks:
    verdict = judge(read(Places([settings.data / "apps"])))
    for problem in verdict.problems:
        yield "problem", problem
    yield "ok", f"{len(verdict.sound)} apps can be served."


def _components(settings: Settings) -> Looks:
    """Said of every installation (security "Components are trusted code")."""
    own = settings.data / "components"
    count = sum(1 for _ in own.glob("*/*.py")) if own.is_dir() else 0
    yield (
        "note",
        f"{count} of your own. Code of components is not confined: it runs as this user, and can read the key, the "
        "database and other processes' environment, and open connections past the guard. Install only code you trust.",
    )


def _ports(settings: Settings) -> Looks:
    ports = {"PATCHBAY_PORT": (settings.host, settings.port)}
    if settings.sandbox:
        ports["PATCHBAY_SANDBOX_PORT"] = (settings.host, settings.sandbox_port)
    if settings.mail:
        ports["PATCHBAY_MAIL_PORT"] = (settings.mail_host, settings.mail_port)
    for setting, (host, port) in ports.items():
        try:
            sockets: list[socket.socket] = listen(host, port)
        except OSError as error:
            yield (
                "note",
                f"{port} is taken or not ours ({reason(error)}): if that is not Patchbay, set {setting} to another.",
            )
            continue
        for listener in sockets:
            listener.close()
        yield "ok", f"{port} is free."


_LOOKS: tuple[tuple[str, Callable[[Settings], Looks]], ...] = (
    ("proxy", _proxy),
    ("data folder", _folder),
    ("database", _database),
    ("disk", _disk),
    ("quotas", _quotas),
    ("catalog", _catalog),
    ("components", _components),
    ("ports", _ports),
)
