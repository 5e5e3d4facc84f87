"""Parses http and https URLs strictly and in one place, so that the check and the connection cannot disagree.

`parse_url` returns a Url or a Failure. It refuses what clients parse in different ways (userinfo, backslashes, white
space, control characters, short or octal or hexadecimal IPv4 forms, zone ids), and percent-encodes other non-ASCII
text. Names become A-labels by IDNA 2008 with UTS 46. Nothing is resolved.

:class:`HostRules` say to which hosts a credential may go. The guard checks whether an address may be reached; the rules
check whether it is intended. A rule is `host`, `*.suffix` (any name below, not the suffix itself) or either with
`:port`. Without a port it admits only https on 443, so that a credential is sent in plain text only if a rule names the
port.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urlencode, urlsplit

import idna

from webapp.kit.origins import DEFAULT_PORTS
from webapp.service.outbound.failures import Failure

MAX_URL = 8192
_FORBIDDEN = re.compile(
    r"[\x00-\x20\x7f-\xa0\xad\\\u200b-\u200f\u2028-\u202f\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label like this makes it an IPv4 form (WHATWG URL)
_PORT = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Url:
    """A checked URL: `host` is a lower-case A-label name or an IP address without brackets."""

    scheme: str
    host: str
    port: int
    target: str  # path and query, percent-encoded, beginning with "/"

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: the same for two URLs exactly when RFC 6454 calls them one origin."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host with brackets where needed, and the port unless it is the scheme's own (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def with_params(self, params: Mapping[str, str]) -> "Url":
        """The same URL with `params` appended to its query."""
        if not params:
            return self
        joint = "&" if "?" in self.target else "?"
        return Url(self.scheme, self.host, self.port, f"{self.target}{joint}{urlencode(params, errors='replace')}")


def parse_url(text: str) -> Url | Failure:
    """Read an absolute http(s) URL strictly. The fragment is dropped (it never goes out)."""
    if len(text) > MAX_URL:
        return _no(f"The address is longer than {MAX_URL} characters. Use a shorter one.")
    if _FORBIDDEN.search(text):
        return _no("The address contains spaces, backslashes or invisible characters. Type it again without them.")
    try:
        parts = urlsplit(text)
    except ValueError:
        return _no("The address cannot be read. Check how it is written.")
    if parts.scheme not in DEFAULT_PORTS or not parts.netloc:
        return _no("The address must begin with https:// or http:// and name a host.")
    if "@" in parts.netloc:
        return _no("The address contains a user name or password. Remove everything up to the @.")
    return _with_authority(parts.scheme, parts.netloc, _target(parts.path, parts.query))


def parse_host(text: str) -> str | Failure:
    """The canonical form of a host: an IP address (no brackets), or a name in lower-case A-labels."""
    if text.startswith("[") and text.endswith("]"):
        return _ipv6(text[1:-1])
    name = text
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return _no("The host name is not a valid internationalised name. Check how it is written.")
    name = name.lower().removesuffix(".")
    if _NUMERIC.fullmatch(name.rpartition(".")[2]):
        return _ipv4(name)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        return _no("The host name is not valid. Check how it is written.")
    return name


def ascii_address(email: str) -> str | None:
    """An e-mail address with the domain in A-labels (RFC 5891), as mail servers know it; None if it has no valid one.

    Its local part stays as it is; only servers with SMTPUTF8 (RFC 6531) take one that is not ASCII.
    """
    local, at, domain = email.rpartition("@")
    host = parse_host(domain)
    return f"{local}@{host}" if local and at and not isinstance(host, Failure) else None


def split_authority(text: str) -> tuple[str, str | None]:
    """Split `host[:port]` with or without brackets; the port is None when none is written."""
    match = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::(.*))?", text, re.DOTALL)
    return (match[1], match[2]) if match else (text, None)


def parse_port(text: str) -> int | None:
    """A port from 1 to 65535 in plain decimal digits, or None."""
    return int(text) if _PORT.fullmatch(text) and 0 < int(text) < 65536 else None


def _with_authority(scheme: str, netloc: str, target: str) -> Url | Failure:
    host_text, port_text = split_authority(netloc)
    host = parse_host(host_text)
    if isinstance(host, Failure):
        return host
    port = parse_port(port_text) if port_text else DEFAULT_PORTS[scheme]
    if port is None:
        return _no("The port in the address is not a number from 1 to 65535. Correct it.")
    return Url(scheme, host, port, target)


def _target(path: str, query: str) -> str:
    encoded = quote(path or "/", safe="/%:@!$&'()*+,;=~")
    return encoded + ("?" + quote(query, safe="/?%:@!$&'()*+,;=~[]") if query else "")


def _ipv4(name: str) -> str | Failure:
    try:
        return str(IPv4Address(name))
    except AddressValueError:
        return _no("Write an IPv4 address as four plain decimal numbers, such as 192.0.2.10.")


def _ipv6(text: str) -> str | Failure:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        address = None
    if address is None or address.scope_id is not None:
        return _no("The IPv6 address is not valid, or names a network zone. Check how it is written.")
    return str(address)


def _no(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)


@dataclass(frozen=True, slots=True)
class HostRules:
    """The hosts an app declares. Make one with `HostRules.of("api.example.com", "*.example.net:8443")`."""

    rules: tuple[tuple[str, int | None], ...]

    @classmethod
    def of(cls, *patterns: str) -> "HostRules":
        """Raises ValueError, with a sentence, for a pattern that is no host rule."""
        return cls(tuple(_parse(pattern) for pattern in patterns))

    def admit(self, url: Url) -> bool:
        """Whether a rule allows this host and port."""
        return any(_host_fits(host, url.host) and _port_fits(port, url) for host, port in self.rules)


def _parse(pattern: str) -> tuple[str, int | None]:
    host_text, port_text = split_authority(pattern)
    wildcard = host_text.startswith("*.")
    host = parse_host(host_text.removeprefix("*."))
    port = parse_port(port_text) if port_text is not None else None
    if isinstance(host, Failure) or (port_text is not None and port is None):
        raise ValueError(f"{pattern!r} is not a host rule. Write it like api.example.com or *.example.com.")
    if wildcard and "." not in host:
        raise ValueError(f"{pattern!r} would admit a whole top-level domain. Name a domain below it.")
    return (f"*.{host}" if wildcard else host), port


def _host_fits(rule: str, host: str) -> bool:
    return host.endswith(rule[1:]) if rule.startswith("*.") else host == rule


def _port_fits(port: int | None, url: Url) -> bool:
    return (url.scheme, url.port) == ("https", 443) if port is None else port == url.port


def masked_url(url: str) -> str:
    """``url`` for readers who may not use it: only its scheme and host, since the rest often contains a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "…"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/…" if parts.netloc else "…"
