"""``patchbay check``: looks at everything that can keep an installation from working, and says what to do."""

import socket
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import click

from webapp.cli.commands import connect_service_look, database_looks, piece_look, sign_in_look
from webapp.cli.commands.database_looks import Looks, Verdict
from webapp.cli.options import JSON, sentence_of, settings_from_env, show
from webapp.cli.serving.listening import listen, reason
from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import Places, read
from webapp.service.components.child_calls import reads_secrets
from webapp.service.components.confinement.looking import look as look_at_confinement
from webapp.setting_completion import is_loopback
from webapp.settings import BadSetting, Settings

CHECKPOINTS_FIXED = (3, 51, 3)


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
    if settings.database_url is None:
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


def _proxy(settings: Settings) -> Looks:
    if is_loopback(settings.host) and not settings.loopback and not settings.trusted_proxies:
        yield (
            "note",
            f"Only this machine can call {settings.host}, so a proxy must forward what comes to {settings.public_url}; "
            "name it in PATCHBAY_TRUSTED_PROXIES, or limits cannot tell a stranger from anybody else.",
        )


def _catalog(settings: Settings) -> Looks:
    verdict = judge(read(Places([settings.data / "apps"], pieces=settings.data / "pieces" / "apps")))
    for problem in verdict.problems:
        yield "problem", problem
    yield "ok", f"{len(verdict.sound)} apps can be served."


def _components(settings: Settings) -> Looks:
    """What confines their code here (security "What confines a component")."""
    own = settings.data / "components"
    files = list(own.glob("*/*.py")) if own.is_dir() else []  # those that are data hold no code
    readers = sum(map(reads_secrets, files))
    yield "ok", f"{len(files)} of your own that are code; {readers} of them may read the secrets of the accounts given."
    for measure in look_at_confinement():
        yield "ok" if measure.holds else "note", measure.sentence


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
    ("database", database_looks.database),
    ("disk", database_looks.disk),
    ("quotas", database_looks.quotas),
    ("catalog", _catalog),
    ("components", _components),
    ("integrations", piece_look.pieces),
    ("ports", _ports),
    ("Connect service", connect_service_look.connect_service),
    ("sign-in", sign_in_look.sign_in),
)
