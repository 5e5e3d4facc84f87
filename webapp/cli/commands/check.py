"""``patchbay check``: checks everything that can keep an installation from working, and prints what to do.

Each check is a function in :data:`_CHECKS` that yields verdicts with sentences: for the database (its file, schema,
key, disk space and quotas), the data folder, the catalog, components and integrations, ports, the server of mails to
people (PATCHBAY_SMTP_URL), the remote Connect service (PATCHBAY_CONNECT_URL), and the OpenID provider
(PATCHBAY_OIDC_ISSUER).
"""

import socket
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Literal

import click

from webapp import quotas as limits
from webapp.cli.options import JSON, sentence_of, settings_from_env, show
from webapp.cli.serving.listeners import listen, reason
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.transport import Params, ServiceDown, Transport
from webapp.errors import Damaged, Forbidden, NotFound, PatchbayError
from webapp.kit.clock import now
from webapp.kit.networks import is_loopback
from webapp.people import openid_provider
from webapp.people.openid_provider import Discovery, Metadata
from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import Places, read
from webapp.service.components.child_calls import reads_secrets
from webapp.service.components.confinement.confinement import look as look_at_confinement
from webapp.service.components.pieces import node
from webapp.service.domain.base.keyring import WeakKey, is_weak
from webapp.service.domain.deliveries import stats
from webapp.service.domain.instance import instance_key, reconnect_mails
from webapp.service.domain.pieces import disk as pieces_disk
from webapp.service.domain.pieces import pieces as added_pieces
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import USER_AGENT
from webapp.service.outbound.id_tokens import Unreachable
from webapp.service.outbound.smtp import check_smtp
from webapp.setting_values import BadSetting
from webapp.settings import Settings
from webapp.store.contract import Store, mebibytes
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import exists, open_store

CHECKPOINTS_FIXED = (3, 51, 3)
Verdict = Literal["ok", "note", "problem"]
Results = Iterator[tuple[Verdict, str]]
_FULLEST = (
    (limits.USER_TRIGGERS, "The user with the most triggers has"),
    (limits.PROJECT_TRIGGERS, "The project with the most triggers has"),
    (limits.TRIGGER_MB, "The trigger with the most MiB of events keeps"),
    (limits.USER_MB, "The user with the most MiB of events keeps"),
)
_NOBODY = "patchbay-check"
# The part of the dashboard that needs each extension, by the extension's path below the project.
_EXTENSIONS: Mapping[str, str] = {
    "activity": "Activity",
    "runs": "the history of runs",
    "trigger-stats": "what triggers sent in a day",
    "audit": "the audit",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of a check."""

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
    for subject, run in _CHECKS:
        try:
            yield from (Finding(subject, verdict, sentence) for verdict, sentence in run(settings))
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


def _folder(settings: Settings) -> Results:
    if not settings.data.exists():
        yield "note", f"{settings.data} does not exist yet; `patchbay serve` makes it."
        return
    for name in ("keys", "patchbay.db"):
        path = settings.data / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield "problem", f"Others on this machine can read {path}; run `chmod 600 {path}`."
            return
    yield "ok", f"{settings.data} exists, and only its owner can read its secrets."


def _proxy(settings: Settings) -> Results:
    if is_loopback(settings.host) and not settings.loopback and not settings.trusted_proxies:
        yield (
            "note",
            f"Only this machine can call {settings.host}, so a proxy must forward what comes to {settings.public_url}; "
            "name it in PATCHBAY_TRUSTED_PROXIES, or limits cannot tell a stranger from anybody else.",
        )


def _catalog(settings: Settings) -> Results:
    verdict = judge(read(Places([settings.data / "apps"], pieces=settings.data / "pieces" / "apps")))
    for problem in verdict.problems:
        yield "problem", problem
    yield "ok", f"{len(verdict.sound)} apps can be served."


def _components(settings: Settings) -> Results:
    """The operator's own components, and what confines their code here (security "What confines a component")."""
    own = settings.data / "components"
    files = list(own.glob("*/*.py")) if own.is_dir() else []  # declared components have no code
    readers = sum(map(reads_secrets, files))
    yield "ok", f"{len(files)} of your own that are code; {readers} of them may read the secrets of the accounts given."
    for measure in look_at_confinement():
        yield "ok" if measure.holds else "note", measure.sentence


def _ports(settings: Settings) -> Results:
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


def database(settings: Settings) -> Results:
    """Whether the database is intact, its schema is up to date, and the key opens it."""
    if not exists(settings):
        yield "note", "There is no database yet; `patchbay serve` makes it."
        if settings.secret_key and is_weak(settings.secret_key):
            yield "problem", str(WeakKey())
        return
    with closing(open_store(settings)) as store:
        server = store.server()
        if server:
            yield "ok", f"The database is that of {server}."
        if faults := store.faults():
            advice = "Mend it, or restore a copy." if server else Damaged().message
            yield "problem", f"{advice} What {'the server' if server else 'SQLite'} says: {'; '.join(faults)}"
            return
        if not server:
            yield "ok", "The file is sound."
        pending = store.pending()
        if pending:
            yield "note", f"{len(pending)} migrations wait; `patchbay serve` and `patchbay migrate` apply them."
            return
        yield "ok", "The schema is up to date."
        yield from _months(store)
        instance_key.proven(settings, store, now)
        yield "ok", "The instance key opens it."
        if settings.secret_key and is_weak(settings.secret_key):
            yield "note", f"{WeakKey()} Change it with `patchbay keys rotate --instance`, while nothing runs."


def _months(store: Store) -> Results:
    """Whether the monthly tables for events exist, where the store has them."""
    if store.months is None:
        return
    if missing := store.months.missing(now()):
        yield (
            "note",
            f"The tables of {' and '.join(missing)} are missing. A worker makes them within ten minutes, and `patchbay "
            "migrate` at once; no event is lost meanwhile.",
        )
    if astray := store.months.strays():
        yield "note", f"{astray:,} events came while the tables of their month were missing; they go one by one."


def disk(settings: Settings) -> Results:
    """The sizes of the database and its log, and the free space."""
    if not exists(settings):
        return
    with closing(open_store(settings)) as store:
        sizes, shrinks = store.sizes(), not isinstance(store, SQLiteStore) or store.shrinks()
    log = "" if store.folder is None else f", its log {mebibytes(sizes.log)}"
    free = "" if sizes.free is None else f" {mebibytes(sizes.free)} are free in {settings.data}."
    yield "ok", f"The database has {mebibytes(sizes.database)}{log}.{free}"
    if not shrinks:
        yield (
            "note",
            "The file keeps the room of what was forgotten: run `patchbay compact` once, while nothing runs.",
        )
    if sizes.log_is_large:
        yield "note", "The log cannot be folded: end the program that has been reading the database for long."
    if sizes.disk_is_low:
        yield "note", "Little room is left; make some before nothing can be written."


def quotas(settings: Settings) -> Results:
    """How close the largest users, projects and triggers are to their quotas."""
    if not exists(settings):
        return
    with closing(open_store(settings)) as store:
        if store.pending():
            return
        held = (*deployed_triggers.fullest(store), *stats.most_kept(store))
    for (quota, words), count in zip(_FULLEST, held, strict=True):
        limit, number = settings.quotas[quota.name], count // quota.unit
        full = number >= limit
        raised = f" Raise PATCHBAY_{quota.name} if that is too few." if full else ""
        yield "note" if full else "ok", f"{words} {number:,} of {limit:,}.{raised}"


def _connect_service(settings: Settings) -> Results:
    """Whether the remote service responds, knows the client and the project, and which extensions it lacks."""
    if not settings.connect_url:
        return
    with closing(Transport(settings.connect_url)) as transport:
        client = ConnectClient(
            transport,
            now,
            client_id=settings.connect_client_id or "",
            client_secret=settings.connect_client_secret or "",
            project=lambda: settings.project or "",
            environment=settings.environment,
        )
        try:
            client.as_project("GET", client.path("accounts"), params={"limit": 1})
            lacking = [words for path, words in _EXTENSIONS.items() if not _offers(client, path)]
        except NotFound:
            yield "problem", f"{settings.connect_url} has no project {settings.project}; set PATCHBAY_PROJECT to one."
            return
        except PatchbayError as error:
            yield "problem", f"{settings.connect_url}: {error.message}"
            return
    yield "ok", f"{settings.connect_url} answers for the project {settings.project} in {settings.environment}."
    if lacking:
        yield "note", f"It lacks {', '.join(lacking)}; the dashboard hides what needs them."


def _offers(client: ConnectClient, path: str) -> bool:
    """Whether the service supports a path; an error other than 403 or 404 counts as support."""
    params: Params = {"limit": 1, "external_user_id": _NOBODY}
    try:
        client.as_project("GET", client.path(path), params=params)
    except (NotFound, Forbidden):
        return False
    except ServiceDown:
        raise
    except PatchbayError:
        return True
    return True


def mails(settings: Settings) -> Results:
    """Whether the server of mails to people lets us in, and whom the last mails did not reach."""
    if settings.smtp_url is None:
        return
    if not settings.sends_mail:
        yield "note", f"Nobody is mailed: people's accounts are at {settings.connect_url}. Unset PATCHBAY_SMTP_URL."
        return
    outbound = OutboundClient(Guard(settings.allow_hosts), user_agent=USER_AGENT)
    outcome = check_smtp(reconnect_mails.client(outbound, settings), reconnect_mails.server(settings))
    if outcome.kind == "ok":
        yield "ok", f"{settings.smtp_url.host} takes mail; it comes from {settings.smtp_from}."
    else:
        yield "problem", f"{outcome.sentence} Check PATCHBAY_SMTP_URL."
    if not exists(settings):
        return
    with closing(open_store(settings)) as store:
        failing = None if store.pending() else reconnect_mails.failing(store, now())
    if failing is not None and failing.people:
        who = "1 person" if failing.people == 1 else f"{failing.people:,} people"
        yield "note", f"The last mail to {who} was not delivered. The newest reason: {failing.sentence}"


def sign_in(settings: Settings) -> Results:
    """Whether the OpenID provider responds as the configured issuer, and supports what sign-in needs."""
    issuer = settings.oidc_issuer
    if not issuer:
        return
    source = Discovery(OutboundClient(Guard(settings.allow_hosts), user_agent=USER_AGENT), now, issuer)
    try:
        metadata, keys = source.metadata(), source.keys()
    except Unreachable as error:
        yield "problem", f"{issuer} cannot be used: {error}. Check PATCHBAY_OIDC_ISSUER and PATCHBAY_ALLOW_HOSTS."
        return
    if not keys.get("keys") or not _signs_as_we_can_check(metadata):
        yield "problem", f"{issuer} signs in no way that can be checked here; let it sign by RS256 or ES256."
        return
    yield "ok", f"{issuer} answers. It has to know {settings.public_url}/sign-in/oidc/callback as a redirect URI."
    lacking = set(settings.oidc_scopes) - set(metadata.names("scopes_supported", settings.oidc_scopes))
    if lacking:
        yield "note", f"It does not advertise {', '.join(sorted(lacking))}, which PATCHBAY_OIDC_SCOPES asks for."


def _signs_as_we_can_check(metadata: Metadata) -> bool:
    return not set(openid_provider.ALGORITHMS).isdisjoint(
        metadata.names("id_token_signing_alg_values_supported", ("RS256",))
    )


def pieces(settings: Settings) -> Results:
    """Whether the added integrations can run on this machine."""
    count, findings = 0, []
    if exists(settings):
        with closing(open_store(settings)) as store:
            if not store.pending():
                count = sum(1 for piece in added_pieces.all_of(store) if piece.version)
                findings = pieces_disk.check(store, settings.data)
    known = node.find()
    if known is None:
        yield "problem" if count else "note", node.MISSING
    else:
        yield "ok", f"Node {known.version} runs them."
    for finding in findings:
        sentence = f"{finding.piece.package} {finding.version}: {finding.sentence}"
        yield "problem", f"{sentence} Run `patchbay piece sync`, or start the worker again."
    if count and not findings:
        yield "ok", f"{count} are complete on this machine." if count > 1 else "1 is complete on this machine."


_CHECKS: tuple[tuple[str, Callable[[Settings], Results]], ...] = (
    ("proxy", _proxy),
    ("data folder", _folder),
    ("database", database),
    ("disk", disk),
    ("quotas", quotas),
    ("catalog", _catalog),
    ("components", _components),
    ("integrations", pieces),
    ("ports", _ports),
    ("mails", mails),
    ("Connect service", _connect_service),
    ("sign-in", sign_in),
)
