"""How the text of a setting becomes its value: one reader for each kind, which refuses in one sentence.

A reader takes the whole name of the variable, for its sentence, and the text, which is never empty.
"""

import ipaddress
import re
from collections.abc import Callable
from urllib.parse import urlsplit

LAST_PORT = 65535
_HOST_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_DOMAIN = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)


class BadSetting(ValueError):
    """A setting that is unknown or cannot be used; the message is one sentence for the operator."""


def text(_: str, given: str) -> str:
    return given


def token(name: str, given: str) -> str:
    if len(given) < 16 or not given.isascii() or " " in given:
        raise BadSetting(f"{name} must be 16 ASCII characters or more, without spaces.")
    return given


def domain(name: str, given: str) -> str:
    if not _DOMAIN.fullmatch(given):
        raise BadSetting(f"{name} must be a domain such as in.example.com, not {given!r}.")
    return given.lower()


def address(name: str, given: str) -> str:
    if not _HOST_NAME.fullmatch(given) and not is_ip_address(given):
        raise BadSetting(f"{name} must be a host name or an address without brackets or port, not {given!r}.")
    return given


def is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def number(low: int, high: int) -> Callable[[str, str], int]:
    def read(name: str, given: str) -> int:
        if not given.isascii() or not given.isdigit() or not low <= int(given) <= high:
            raise BadSetting(f"{name} must be a whole number from {low} to {high}, not {given!r}.")
        return int(given)

    return read


port = number(1, LAST_PORT)


def choice(*allowed: str) -> Callable[[str, str], str]:
    def read(name: str, given: str) -> str:
        if given not in allowed:
            raise BadSetting(f"{name} must be {' or '.join(allowed)}, not {given!r}.")
        return given

    return read


def switch(name: str, given: str) -> bool:
    return choice("on", "off")(name, given.lower()) == "on"


def url(name: str, given: str) -> str:
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
    return bool(host) and (_HOST_NAME.fullmatch(host or "") is not None or is_ip_address(host or ""))


def base_url(name: str, given: str) -> str:
    try:
        parts = urlsplit(given)
    except ValueError as error:
        raise BadSetting(f"{name} is not a valid address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise BadSetting(f"{name} must be an http or https address such as https://connect.example.com.")
    return given.rstrip("/")


def key(name: str, given: str) -> str:
    if len(given) < 32:
        raise BadSetting(f"{name} must be at least 32 characters long; `openssl rand -hex 32` makes a good one.")
    return given


def hosts(name: str, given: str) -> tuple[str, ...]:
    entries = tuple(entry.lower() for entry in re.split(r"[,\s]+", given) if entry)
    for entry in entries:
        found = re.fullmatch(r"(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?", entry, re.ASCII)
        if not found or not 1 <= int(found[1] or 1) <= LAST_PORT:
            raise BadSetting(f"{name} has {entry!r}; each entry must be a host or host:port (IPv6 in brackets).")
    return entries


def networks(name: str, given: str) -> tuple[str, ...]:
    entries = tuple(entry for entry in re.split(r"[,\s]+", given) if entry)
    for entry in entries:
        try:
            ipaddress.ip_network(entry)
        except ValueError as error:
            raise BadSetting(f"{name} has {entry!r}, which is not an address or network such as 10.0.0.0/8.") from error
    return entries


def storage(name: str, given: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(?:\+[a-z0-9]+)*://\S*", given):
        raise BadSetting(f"{name} must be memory:// or the address of a storage such as redis://localhost:6379.")
    return given


def project(name: str, given: str) -> str:
    if not re.fullmatch(r"proj_[a-zA-Z0-9]+", given):
        raise BadSetting(f"{name} must be a project id such as proj_8sKx2QeTn0bV4c, not {given!r}.")
    return given
