"""Parsers for the values of settings, one for each kind. Raise :class:`BadSetting` with one sentence.

A parser takes the full name of the environment variable, for the sentence, and its text, which is never empty. Which
setting has which parser is left to :mod:`webapp.settings`.
"""

import ipaddress
import re
from collections.abc import Callable
from email.headerregistry import Address
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

LAST_PORT = 65535
_HOST_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)


class BadSetting(ValueError):
    """A setting that is unknown or cannot be used; the message is one sentence for the operator."""


class SmtpServer(NamedTuple):
    """The mail server that sends mail to people. ``encryption``: tls from the first byte, starttls (RFC 3207), or none.

    Without a ``user``, nobody signs in there.
    """

    host: str
    port: int
    user: str
    password: str
    encryption: Literal["tls", "starttls", "none"]


_SMTP: dict[str, tuple[Literal["tls", "starttls", "none"], int]] = {
    "smtps": ("tls", 465),
    "smtp": ("starttls", 587),
    "smtp+plain": ("none", 25),
}


def text(_: str, value: str) -> str:
    return value


def token(name: str, value: str) -> str:
    if len(value) < 16 or not value.isascii() or " " in value:
        raise BadSetting(f"{name} must be 16 ASCII characters or more, without spaces.")
    return value


def domain(name: str, value: str) -> str:
    if not _DOMAIN.fullmatch(value):
        raise BadSetting(f"{name} must be a domain such as in.example.com, not {value!r}.")
    return value.lower()


def address(name: str, value: str) -> str:
    if not _HOST_NAME.fullmatch(value) and not is_ip_address(value):
        raise BadSetting(f"{name} must be a host name or an address without brackets or port, not {value!r}.")
    return value


def is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def number(low: int, high: int) -> Callable[[str, str], int]:
    def read(name: str, value: str) -> int:
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise BadSetting(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
        return int(value)

    return read


port = number(1, LAST_PORT)


def choice(*allowed: str) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in allowed:
            raise BadSetting(f"{name} must be {' or '.join(allowed)}, not {value!r}.")
        return value

    return read


def switch(name: str, value: str) -> bool:
    return choice("on", "off")(name, value.lower()) == "on"


def url(name: str, value: str) -> str:
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise BadSetting(f"{name} is not a valid address: {error}.") from error
    if parts.scheme not in ("http", "https") or not _names_a_host(parts.hostname) or port == 0:
        raise BadSetting(f"{name} must be an http or https address such as https://connect.example.com.")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise BadSetting(f"{name} must be a scheme, a host and perhaps a port, with nothing behind them.")
    return value.rstrip("/").lower()


def _names_a_host(host: str | None) -> bool:
    return bool(host) and (_HOST_NAME.fullmatch(host or "") is not None or is_ip_address(host or ""))


def base_url(name: str, value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError as error:
        raise BadSetting(f"{name} is not a valid address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise BadSetting(f"{name} must be an http or https address such as https://connect.example.com.")
    return value.rstrip("/")


def issuer(name: str, value: str) -> str:
    """The unchanged text: issuers are compared character by character (OpenID Connect Discovery section 4.3)."""
    base_url(name, value)
    return value


def words(_: str, value: str) -> tuple[str, ...]:
    return tuple(re.split(r"[,\s]+", value))


def roles(name: str, value: str) -> tuple[tuple[str, str], ...]:
    entries = []
    for entry in filter(None, map(str.strip, value.split(","))):
        group, _, role = map(str.strip, entry.rpartition("="))
        if not group or role not in ("owner", "developer", "member"):
            raise BadSetting(f"{name} has {entry!r}; each entry must be group=owner, group=developer or group=member.")
        entries.append((group, role))
    return tuple(entries)


def key(name: str, value: str) -> str:
    if len(value) < 32:
        raise BadSetting(f"{name} must be at least 32 characters long; `openssl rand -hex 32` makes a good one.")
    return value


def hosts(name: str, value: str) -> tuple[str, ...]:
    entries = tuple(entry.lower() for entry in re.split(r"[,\s]+", value) if entry)
    for entry in entries:
        match = re.fullmatch(r"(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?", entry, re.ASCII)
        if not match or not 1 <= int(match[1] or 1) <= LAST_PORT:
            raise BadSetting(f"{name} has {entry!r}; each entry must be a host or host:port (IPv6 in brackets).")
    return entries


def networks(name: str, value: str) -> tuple[str, ...]:
    entries = tuple(entry for entry in re.split(r"[,\s]+", value) if entry)
    for entry in entries:
        try:
            ipaddress.ip_network(entry)
        except ValueError as error:
            raise BadSetting(f"{name} has {entry!r}, which is not an address or network such as 10.0.0.0/8.") from error
    return entries


def storage(name: str, value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(?:\+[a-z0-9]+)*://\S*", value):
        raise BadSetting(f"{name} must be memory:// or the address of a storage such as redis://localhost:6379.")
    return value


def database(name: str, value: str) -> str:
    """The URL of a PostgreSQL database. Errors do not repeat it, because it may contain a password."""
    if not re.match(r"(postgresql|postgres)://", value):
        raise BadSetting(f"{name} must be an address such as postgresql://user:password@db.example.com/patchbay.")
    from psycopg import ProgrammingError  # slow to import, and needed only here
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(value)
    except (ProgrammingError, UnicodeError):
        parts = {"port": "unknown"}
    if not re.fullmatch(r"[0-9,]*", str(parts.get("port", ""))) or "@" in str(parts.get("host", "")):
        raise BadSetting(
            f"{name} is not an address that libpq reads; write special characters as %XX, such as %25 for %."
        )
    if not parts.get("dbname"):
        raise BadSetting(f"{name} must be an address such as postgresql://user:password@db.example.com/patchbay.")
    return value


def project(name: str, value: str) -> str:
    if not re.fullmatch(r"proj_[a-zA-Z0-9]+", value):
        raise BadSetting(f"{name} must be a project id such as proj_8sKx2QeTn0bV4c, not {value!r}.")
    return value


def smtp(name: str, value: str) -> SmtpServer:
    """The address of a mail server. Errors do not repeat it, because it may contain a password."""
    try:
        parts = urlsplit(value)
        port, user, password = parts.port, unquote(parts.username or ""), unquote(parts.password or "")
    except ValueError:
        raise BadSetting(f"{name} is not a valid address; write special characters as %XX.") from None
    if parts.scheme not in _SMTP or not _names_a_host(parts.hostname) or port == 0:
        raise BadSetting(f"{name} must be an address such as smtp://user:password@mail.example.com.")
    if parts.path not in ("", "/") or parts.query or parts.fragment or bool(user) != bool(password):
        raise BadSetting(f"{name} must be a scheme, perhaps a user and a password, a host and perhaps a port.")
    if any(ord(character) < 32 for character in user + password):
        raise BadSetting(f"{name} has an invisible character in its user or password.")
    encryption, usual_port = _SMTP[parts.scheme]
    if user and encryption == "none":
        raise BadSetting(f"{name} would send a password without encryption; use smtp:// or smtps://.")
    return SmtpServer((parts.hostname or "").lower(), port or usual_port, user, password, encryption)


def sender(name: str, value: str) -> str:
    """The address that mails come from, with a name or without: ``Acme <accounts@example.com>``."""
    match = re.fullmatch(r"(?:(?P<shown>[^<>]*)<(?P<named>[^<>]*)>|(?P<bare>[^<>]*))", value)
    address = (match["named"] or match["bare"] or "") if match else ""
    local, _, domain = address.rpartition("@")
    if not match or not value.isprintable() or not _LOCAL_PART.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise BadSetting(f"{name} must be an address such as accounts@example.com, or Acme <accounts@example.com>.")
    return str(Address((match["shown"] or "").strip().strip('"'), addr_spec=address))
