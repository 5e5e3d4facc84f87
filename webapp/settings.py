"""Settings: one frozen object, read once from ``PATCHBAY_*``. An unknown or bad one stops the start with a sentence.

:data:`TABLE` is the whole list, in the order in which README shows it.
"""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_LAST_PORT = 65535
_HOST_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_DOMAIN = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)


class BadSetting(ValueError):
    """A setting that is unknown or cannot be used; the message is one sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that an operator decides. Paths are absolute; times carry their unit in the name."""

    host: str
    port: int
    sandbox_port: int
    data: Path
    public_url: str
    secret_key: str | None = field(repr=False)
    allow_hosts: tuple[str, ...]
    trusted_proxies: tuple[str, ...]
    project: str | None
    environment: str
    sandbox: bool
    mail: bool
    mail_host: str
    mail_port: int
    mail_domain: str
    min_poll_s: int
    threads: int
    log_level: str
    log_format: str
    access_log: bool
    metrics_token: str | None = field(repr=False)
    event_days: int
    events_kept: int
    limits_storage: str = field(repr=False)
    connect_url: str | None
    connect_client_id: str | None
    connect_client_secret: str | None = field(repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None, **overrides: Any) -> "Settings":
        """Read ``env`` (the process environment by default). Raises :class:`BadSetting`."""
        found = os.environ if env is None else env
        known = {"PATCHBAY_" + row.name: row for row in TABLE}
        for name in found:
            if name.startswith("PATCHBAY_") and name not in known:
                raise BadSetting(f"{name} is not a setting of Patchbay; README lists them all.")
        values: dict[str, Any] = {}
        for name, row in known.items():
            given = found.get(name, "").strip()
            values[row.name.lower()] = row.read(name, given) if given else row.default
        values.update(overrides)
        return cls(**_complete(values))

    @property
    def origin(self) -> str:
        """The scheme, host and port under which people and clients reach the service."""
        return self.public_url

    @property
    def secure(self) -> bool:
        """Whether people reach the service over HTTPS (cookies are then marked Secure)."""
        return self.public_url.startswith("https://")

    @property
    def loopback(self) -> bool:
        """Whether the public address is this machine alone."""
        return is_loopback(urlsplit(self.public_url).hostname or "")

    @property
    def sandbox_url(self) -> str:
        """Where the built-in third party answers: the same host name, its own port."""
        parts = urlsplit(self.public_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}:{self.sandbox_port}"


def is_loopback(host: str) -> bool:
    """Whether ``host`` (a name, or an address without brackets) is this machine alone."""
    if host in LOOPBACK_NAMES or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _complete(values: dict[str, Any]) -> dict[str, Any]:
    """Fill in what depends on other settings, and refuse what contradicts itself."""
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
    if values["sandbox"] and values["sandbox_port"] > _LAST_PORT:
        raise BadSetting("PATCHBAY_SANDBOX_PORT is PATCHBAY_PORT + 1 unless you set it, and that port does not exist.")
    _complete_mail(values)
    remote = [name for name in ("connect_url", "connect_client_id", "connect_client_secret") if values[name]]
    if remote and (len(remote) < 3 or not values["project"]):
        raise BadSetting(
            "To work with another Connect service, set PATCHBAY_CONNECT_URL, PATCHBAY_CONNECT_CLIENT_ID, "
            "PATCHBAY_CONNECT_CLIENT_SECRET and PATCHBAY_PROJECT together."
        )
    values["data"] = Path(values["data"]).expanduser().absolute()
    return values


def _complete_mail(values: dict[str, Any]) -> None:
    """Where mail for triggers arrives: a port beside the others, at addresses under the public host."""
    taken = (values["port"], values["sandbox_port"] if values["sandbox"] else None)
    if values["mail_port"] is None:
        port = values["port"] + 25 if values["port"] + 25 <= _LAST_PORT else values["port"] - 25
        values["mail_port"] = port + 2 if port in taken else port
    elif values["mail"] and values["mail_port"] in taken:
        raise BadSetting("PATCHBAY_MAIL_PORT must differ from PATCHBAY_PORT and PATCHBAY_SANDBOX_PORT.")
    if values["mail_domain"] is None:
        values["mail_domain"] = _mail_domain(urlsplit(values["public_url"]).hostname or "localhost")


def _mail_domain(host: str) -> str:
    """``host`` as it stands behind the @; a bare address is written in brackets (RFC 5321 section 4.1.3)."""
    if not _is_ip_address(host):
        return host.lower()
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"


def _text(_: str, given: str) -> str:
    return given


def _token(name: str, given: str) -> str:
    if len(given) < 16 or not given.isascii() or " " in given:
        raise BadSetting(f"{name} must be 16 ASCII characters or more, without spaces.")
    return given


def _domain(name: str, given: str) -> str:
    if not _DOMAIN.fullmatch(given):
        raise BadSetting(f"{name} must be a domain such as in.example.com, not {given!r}.")
    return given.lower()


def _address(name: str, given: str) -> str:
    if not _HOST_NAME.fullmatch(given) and not _is_ip_address(given):
        raise BadSetting(f"{name} must be a host name or an address without brackets or port, not {given!r}.")
    return given


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _number(low: int, high: int) -> Callable[[str, str], int]:
    def read(name: str, given: str) -> int:
        if not given.isascii() or not given.isdigit() or not low <= int(given) <= high:
            raise BadSetting(f"{name} must be a whole number from {low} to {high}, not {given!r}.")
        return int(given)

    return read


def _choice(*allowed: str) -> Callable[[str, str], str]:
    def read(name: str, given: str) -> str:
        if given not in allowed:
            raise BadSetting(f"{name} must be {' or '.join(allowed)}, not {given!r}.")
        return given

    return read


def _switch(name: str, given: str) -> bool:
    return _choice("on", "off")(name, given.lower()) == "on"


def _url(name: str, given: str) -> str:
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError as error:
        raise BadSetting(f"{name} is not a valid address: {error}.") from error
    if parts.scheme not in ("http", "https") or not _names_a_host(parts.hostname) or port == 0:
        raise BadSetting(f"{name} must be an http or https address such as https://connect.example.com.")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise BadSetting(f"{name} must be a scheme, a host and perhaps a port, with nothing behind them.")
    return given.rstrip("/").lower()


def _names_a_host(host: str | None) -> bool:
    return bool(host) and (_HOST_NAME.fullmatch(host or "") is not None or _is_ip_address(host or ""))


def _base_url(name: str, given: str) -> str:
    try:
        parts = urlsplit(given)
    except ValueError as error:
        raise BadSetting(f"{name} is not a valid address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise BadSetting(f"{name} must be an http or https address such as https://connect.example.com.")
    return given.rstrip("/")


def _key(name: str, given: str) -> str:
    if len(given) < 32:
        raise BadSetting(f"{name} must be at least 32 characters long; `openssl rand -hex 32` makes a good one.")
    return given


def _hosts(name: str, given: str) -> tuple[str, ...]:
    entries = tuple(entry.lower() for entry in re.split(r"[,\s]+", given) if entry)
    for entry in entries:
        found = re.fullmatch(r"(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?", entry, re.ASCII)
        if not found or not 1 <= int(found[1] or 1) <= _LAST_PORT:
            raise BadSetting(f"{name} has {entry!r}; each entry must be a host or host:port (IPv6 in brackets).")
    return entries


def _networks(name: str, given: str) -> tuple[str, ...]:
    entries = tuple(entry for entry in re.split(r"[,\s]+", given) if entry)
    for entry in entries:
        try:
            ipaddress.ip_network(entry)
        except ValueError as error:
            raise BadSetting(f"{name} has {entry!r}, which is not an address or network such as 10.0.0.0/8.") from error
    return entries


def _storage(name: str, given: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(?:\+[a-z0-9]+)*://\S*", given):
        raise BadSetting(f"{name} must be memory:// or the address of a storage such as redis://localhost:6379.")
    return given


def _project(name: str, given: str) -> str:
    if not re.fullmatch(r"proj_[a-zA-Z0-9]+", given):
        raise BadSetting(f"{name} must be a project id such as proj_8sKx2QeTn0bV4c, not {given!r}.")
    return given


class Row(NamedTuple):
    """One setting: its name without ``PATCHBAY_``, its default, how it is read, and its help for README."""

    name: str
    default: Any
    read: Callable[[str, str], Any]
    help: str


TABLE: tuple[Row, ...] = (
    Row("HOST", "127.0.0.1", _address, "Address to listen on."),
    Row("PORT", 8600, _number(1, _LAST_PORT), "Port of the dashboard and the API."),
    Row("SANDBOX_PORT", None, _number(1, _LAST_PORT), "Port of the built-in third party (PORT + 1)."),
    Row("DATA", "instance", _text, "Folder of the database, the keys and your own apps."),
    Row("PUBLIC_URL", None, _url, "Address by which browsers and clients reach the service (http://localhost:PORT)."),
    Row("SECRET_KEY", None, _key, "Key that wraps all others, 32 characters or more (made in DATA/keys when unset)."),
    Row("ALLOW_HOSTS", (), _hosts, "Private or loopback targets that outbound requests may reach: host[:port], ..."),
    Row("TRUSTED_PROXIES", (), _networks, "Addresses or networks whose X-Forwarded-* headers count."),
    Row("PROJECT", None, _project, "Project that the dashboard works in (the first one)."),
    Row("ENVIRONMENT", "development", _choice("development", "production"), "Environment the dashboard works in."),
    Row("SANDBOX", None, _switch, "on or off: the built-in third party (on while PUBLIC_URL is loopback)."),
    Row("MAIL", True, _switch, "on or off: receive mail for e-mail triggers."),
    Row("MAIL_HOST", "127.0.0.1", _address, "Address to listen on for mail."),
    Row("MAIL_PORT", None, _number(1, _LAST_PORT), "Port to listen on for mail (PORT + 25)."),
    Row(
        "MAIL_DOMAIN",
        None,
        _domain,
        "What stands behind the @ in the addresses of e-mail triggers (host of PUBLIC_URL).",
    ),
    Row("MIN_POLL_S", 15, _number(1, 86_400), "Shortest interval in seconds at which a trigger may poll an app."),
    Row("THREADS", 64, _number(1, 256), "Requests that are answered side by side."),
    Row("LOG_LEVEL", "info", _choice("debug", "info", "warning", "error"), "How much is logged."),
    Row("LOG_FORMAT", "text", _choice("text", "json"), "How log lines are written: text or json."),
    Row("ACCESS_LOG", False, _switch, "on or off: a log line for every request."),
    Row("METRICS_TOKEN", None, _token, "Bearer token for /metrics, 16 characters or more (no /metrics when unset)."),
    Row("EVENT_DAYS", 30, _number(1, 3650), "Days after which events and their deliveries are forgotten."),
    Row("EVENTS_KEPT", 10_000, _number(1, 10_000_000), "Events that are kept of each trigger, the newest ones."),
    Row("LIMITS_STORAGE", "memory://", _storage, "Where rate limits are counted, as the library limits names it."),
    Row("CONNECT_URL", None, _base_url, "Another Connect service to drive instead of the embedded one."),
    Row("CONNECT_CLIENT_ID", None, _text, "OAuth client id at that service."),
    Row("CONNECT_CLIENT_SECRET", None, _text, "OAuth client secret at that service."),
)
