"""Settings: one immutable object, read once from the environment variables ``PATCHBAY_*``.

An unknown variable or an invalid value stops the start with a sentence. :data:`TABLE` lists all settings in the order
of the manual (operate "Settings" and "Quotas"): the fields of :class:`Settings`, then the quotas. ``setting_values``
parses each text, and :func:`complete` fills in defaults that depend on other settings.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from webapp import connection_limits, quotas
from webapp import setting_values as read
from webapp.kit.networks import is_loopback
from webapp.setting_values import LAST_PORT, SmtpServer, is_ip_address
from webapp.setting_values import BadSetting as BadSetting

BOUNDS = (*quotas.TABLE, *connection_limits.TABLE)


def complete(values: dict[str, Any]) -> dict[str, Any]:
    """Fill in defaults that depend on other settings. Raises :class:`BadSetting` for settings that contradict."""
    port, host = values["port"], values["host"]
    if values["sandbox_port"] is None:
        values["sandbox_port"] = port + 1
    if values["sandbox_port"] == port:
        raise BadSetting("PATCHBAY_SANDBOX_PORT must differ from PATCHBAY_PORT.")
    if values["public_url"] is None:
        shown = "localhost" if host in ("0.0.0.0", "::", "") or is_loopback(host) else host  # noqa: S104
        shown = f"[{shown}]" if ":" in shown else shown
        values["public_url"] = f"http://{shown}:{port}"
    loopback = is_loopback(urlsplit(values["public_url"]).hostname or "")
    if values["sandbox"] is None:
        values["sandbox"] = loopback
    elif values["sandbox"] and not loopback:
        raise BadSetting("PATCHBAY_SANDBOX can only be on while PATCHBAY_PUBLIC_URL is a loopback address.")
    if values["sandbox"] and values["sandbox_port"] > LAST_PORT:
        raise BadSetting("PATCHBAY_SANDBOX_PORT is PATCHBAY_PORT + 1 unless you set it, and that port does not exist.")
    _complete_mail(values)
    _complete_oidc(values)
    remote = [name for name in ("connect_url", "connect_client_id", "connect_client_secret") if values[name]]
    if remote and (len(remote) < 3 or not values["project"]):
        raise BadSetting(
            "To work with another Connect service, set PATCHBAY_CONNECT_URL, PATCHBAY_CONNECT_CLIENT_ID, "
            "PATCHBAY_CONNECT_CLIENT_SECRET and PATCHBAY_PROJECT together."
        )
    values["data"] = Path(values["data"]).expanduser().absolute()
    values["runner"] = Path(values["runner"]).expanduser().absolute() if values["runner"] else None
    return values


def _complete_oidc(values: dict[str, Any]) -> None:
    """Check that the OpenID provider is configured completely or not at all, and set its default name."""
    parts = [name for name in ("oidc_issuer", "oidc_client_id", "oidc_client_secret") if values[name]]
    if parts and len(parts) < 3:
        raise BadSetting(
            "For people to sign in at an OpenID provider, set PATCHBAY_OIDC_ISSUER, PATCHBAY_OIDC_CLIENT_ID and "
            "PATCHBAY_OIDC_CLIENT_SECRET together."
        )
    if not parts and (values["oidc_required"] or values["oidc_roles"]):
        raise BadSetting("PATCHBAY_OIDC_REQUIRED and PATCHBAY_OIDC_ROLES need PATCHBAY_OIDC_ISSUER.")
    if "openid" not in values["oidc_scopes"]:
        raise BadSetting("PATCHBAY_OIDC_SCOPES must have openid among its scopes.")
    if values["oidc_name"] is None:
        values["oidc_name"] = urlsplit(values["oidc_issuer"] or "").netloc


def _complete_mail(values: dict[str, Any]) -> None:
    """Set the default port and domain of mail for triggers, from the other ports and the public URL, and check that
    outgoing mail is configured completely or not at all."""
    taken = (values["port"], values["sandbox_port"] if values["sandbox"] else None)
    if values["mail_port"] is None:
        port = values["port"] + 25 if values["port"] + 25 <= LAST_PORT else values["port"] - 25
        values["mail_port"] = port + 2 if port in taken else port
    elif values["mail"] and values["mail_port"] in taken:
        raise BadSetting("PATCHBAY_MAIL_PORT must differ from PATCHBAY_PORT and PATCHBAY_SANDBOX_PORT.")
    if (values["smtp_url"] is None) != (values["smtp_from"] is None):
        raise BadSetting("To send mail, set PATCHBAY_SMTP_URL and PATCHBAY_SMTP_FROM together.")
    if values["mail_domain"] is None:
        values["mail_domain"] = _mail_domain(urlsplit(values["public_url"]).hostname or "localhost")


def _mail_domain(host: str) -> str:
    """``host`` as the domain of mail addresses; an IP address in brackets (RFC 5321 section 4.1.3)."""
    if not is_ip_address(host):
        return host.lower()
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"


class Row(NamedTuple):
    """A setting: its name without ``PATCHBAY_``, its default, the parser of its text, and its help for operators."""

    name: str
    default: Any
    read: Callable[[str, str], Any]
    help: str


def _setting(default: Any, reader: Callable[[str, str], Any], summary: str, *, secret: bool = False) -> Any:
    """A field of :class:`Settings`. A ``secret`` is left out of the object's representation."""
    return field(default=default, repr=not secret, metadata={"read": reader, "help": summary})


@dataclass(frozen=True)
class Settings:
    """All settings. Paths are absolute; the names of durations end with their unit."""

    host: str = _setting("127.0.0.1", read.address, "Address to listen on.")
    port: int = _setting(8600, read.port, "Port of the dashboard and the API.")
    sandbox_port: int = _setting(None, read.port, "Port of the built-in third party (PORT + 1).")
    data: Path = _setting("instance", read.text, "Folder of the database, the keys and your own apps.")  # noqa: RUF009
    database_url: str | None = _setting(
        None,
        read.database,
        "PostgreSQL for the database, as postgresql://user:password@host/name (one file in DATA when unset).",
        secret=True,
    )
    database_connections: int = _setting(
        10, read.number(2, 500), "Connections to PostgreSQL that a process has at most."
    )
    public_url: str = _setting(
        None, read.url, "Address by which browsers and clients reach the service (http://localhost:PORT)."
    )
    secret_key: str | None = _setting(
        None, read.key, "Key that wraps all others, 32 characters or more (made in DATA/keys when unset).", secret=True
    )
    allow_hosts: tuple[str, ...] = _setting(
        (), read.hosts, "Private or loopback targets that outbound requests may reach: host[:port], ..."
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), read.networks, "Addresses or networks whose X-Forwarded-* headers count."
    )
    workflow_domain: str | None = _setting(
        None,
        read.domain,
        "Domain below which each HTTP trigger has a host of its own (PUBLIC_URL/h/KEY when unset).",
    )
    project: str | None = _setting(None, read.project, "Project that the dashboard works in (the first one).")
    environment: str = _setting(
        "development", read.choice("development", "production"), "Environment the dashboard works in."
    )
    language: str = _setting(
        "en",
        read.choice("en", "de", "fr", "es", "ja"),
        "en, de, fr, es or ja: of pages for people whose browser asks for none of them.",
    )
    sandbox: bool = _setting(
        None, read.switch, "on or off: the built-in third party (on while PUBLIC_URL is loopback)."
    )
    mail: bool = _setting(True, read.switch, "on or off: receive mail for e-mail triggers.")
    mail_host: str = _setting("127.0.0.1", read.address, "Address to listen on for mail.")
    mail_port: int = _setting(None, read.port, "Port to listen on for mail (PORT + 25).")
    mail_domain: str = _setting(None, read.domain, "Domain of the addresses of e-mail triggers (host of PUBLIC_URL).")
    smtp_url: SmtpServer | None = _setting(  # noqa: RUF009
        None,
        read.smtp,
        "Mail server for mails to people, as smtp://user:password@host (none are sent when unset).",
        secret=True,
    )
    smtp_from: str | None = _setting(None, read.sender, "Address that they come from: Name <name@example.com>.")
    web: int = _setting(1, read.number(1, 64), "Web processes, which share the port; one for each core.")
    threads: int = _setting(64, read.number(1, 256), "Requests that a web process answers side by side.")
    drain_s: int = _setting(0, read.number(0, 600), "Seconds for which /readyz says that it stops, before it does.")
    runner: Path | None = _setting(None, read.text, "Folder where patchbay runner listens.")  # noqa: RUF009
    piece_registry: str | None = _setting(
        None,
        read.base_url,
        "npm registry of added integrations (that of the machine's .npmrc, or npm's own).",
    )
    piece_mb: int = _setting(100, read.number(1, 10_000), "MiB that an added integration may have, with what it needs.")
    piece_processes: int = _setting(8, read.number(1, 64), "Processes of Node that run pieces side by side, at most.")
    piece_memory_mb: int = _setting(256, read.number(64, 4096), "MiB of memory that each of them may take.")
    piece_idle_s: int = _setting(
        30, read.number(1, 3600), "Seconds for which one waits for the next call of its user before it ends."
    )
    log_level: str = _setting("info", read.choice("debug", "info", "warning", "error"), "How much is logged.")
    log_format: str = _setting("text", read.choice("text", "json"), "How log lines are written: text or json.")
    access_log: bool = _setting(False, read.switch, "on or off: a log line for every request.")
    metrics_token: str | None = _setting(
        None, read.token, "Bearer token for /metrics, 16 characters or more (no /metrics when unset).", secret=True
    )
    event_days: int = _setting(30, read.number(1, 3650), "Days after which events and their deliveries are deleted.")
    events_kept: int = _setting(
        10_000, read.number(1, 10_000_000), "Events that are kept of each trigger, the newest ones."
    )
    limits_storage: str = _setting(
        "memory://", read.storage, "Where rate limits are counted, as the library limits names it.", secret=True
    )
    limits_away: str = _setting("open", read.choice("open", "closed"), "open or closed while LIMITS_STORAGE is away.")
    connect_url: str | None = _setting(
        None, read.base_url, "Another Connect service to drive instead of the embedded one."
    )
    connect_client_id: str | None = _setting(None, read.text, "OAuth client id at that service.")
    connect_client_secret: str | None = _setting(None, read.text, "OAuth client secret at that service.", secret=True)
    oidc_issuer: str | None = _setting(
        None, read.issuer, "OpenID provider at which people may sign in, by the name that it gives itself."
    )
    oidc_client_id: str | None = _setting(None, read.text, "OAuth client id at that provider.")
    oidc_client_secret: str | None = _setting(None, read.text, "OAuth client secret at that provider.", secret=True)
    oidc_name: str = _setting(None, read.text, "What people call the provider (the host of OIDC_ISSUER).")
    oidc_scopes: tuple[str, ...] = _setting(
        ("openid", "email", "profile"), read.words, "Scopes to ask the provider for, openid among them."
    )
    oidc_groups_claim: str = _setting("groups", read.text, "Claim with a person's groups at the provider.")
    oidc_roles: tuple[tuple[str, str], ...] = _setting(
        (), read.roles, "Roles of groups: group=role, ...; the group * is everybody."
    )
    oidc_required: bool = _setting(False, read.switch, "on or off: people sign in only at the provider.")
    quotas: Mapping[str, int] = field(default_factory=lambda: {row.name: row.default for row in BOUNDS}, hash=False)
    """The value of each row of :data:`webapp.quotas.TABLE` and :data:`webapp.connection_limits.TABLE`, by its name."""

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None, **overrides: Any) -> "Settings":
        """Read ``env`` (the process environment by default). Raises :class:`BadSetting`."""
        variables = os.environ if env is None else env
        rows = {"PATCHBAY_" + row.name: row for row in TABLE}
        for name in variables:
            if name.startswith("PATCHBAY_") and name not in rows:
                raise BadSetting(f"{name} is not a setting of Patchbay; the manual lists them all, under Operate.")
        texts = {name: variables.get(name, "").strip() for name in rows}
        values = {row.name: row.read(name, texts[name]) if texts[name] else row.default for name, row in rows.items()}
        numbers = {row.name: values.pop(row.name) for row in BOUNDS}
        chosen = {name.lower(): value for name, value in values.items()}
        return cls(**complete({"quotas": numbers} | chosen | overrides))

    @property
    def connect_base(self) -> str:
        """The base URL of the Connect service that the dashboard uses: the remote one, or this one."""
        return self.connect_url or self.public_url

    @property
    def sends_mail(self) -> bool:
        """Whether people are mailed: a mail server is set, and their accounts are in the embedded service."""
        return self.smtp_url is not None and not self.connect_url

    @property
    def database(self) -> Path:
        """The path of the embedded database."""
        return self.data / "patchbay.db"

    def trigger_url(self, key: str) -> str:
        """The URL of the trigger with ``key``. Keys of earlier versions have capitals, so they cannot be host names."""
        if self.workflow_domain is None or key != key.lower():
            return f"{self.public_url}/h/{key}"
        parts = urlsplit(self.public_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{key}.{self.workflow_domain}{port}"

    @cached_property
    def secure(self) -> bool:
        """Whether the public URL is https; cookies are then marked Secure."""
        return self.public_url.startswith("https://")

    @cached_property
    def host_cookie(self) -> str:
        """The prefix of the names of cookies with the path ``/``: with https, browsers then require Secure, no Domain
        and that path (RFC 6265bis section 4.1.3.2)."""
        return "__Host-" if self.secure else ""

    @cached_property
    def path_cookie(self) -> str:
        """The prefix of the names of cookies with other paths, for which browsers require Secure (section 4.1.3.1)."""
        return "__Secure-" if self.secure else ""

    @cached_property
    def loopback(self) -> bool:
        """Whether the public URL is a loopback address."""
        return is_loopback(urlsplit(self.public_url).hostname or "")

    @cached_property
    def sandbox_url(self) -> str:
        """The URL of the built-in third party: this machine with its own port, without TLS, which only a proxy in front
        of the public URL provides."""
        host = urlsplit(self.public_url).hostname or "localhost"
        if host.endswith(".localhost"):  # browsers resolve it, but many resolvers do not
            host = "localhost"
        return f"http://[{host}]:{self.sandbox_port}" if ":" in host else f"http://{host}:{self.sandbox_port}"

    @cached_property
    def example_url(self) -> str:
        """The URL of the example product, which uses the embedded service, or "" if it is not served."""
        return f"{self.sandbox_url}/product" if self.sandbox and not self.connect_url else ""


TABLE = (
    *(Row(row.name.upper(), row.default, **row.metadata) for row in fields(Settings) if row.metadata),
    *(Row(row.name, row.default, read.number(1, row.most), row.help) for row in BOUNDS),
)
