"""Which hosts a credential may go to. The guard asks whether an address is reachable; this asks whether it is meant.

A rule is `host`, `*.suffix` (any name below, not the suffix itself) or either with `:port`. Without a port it
admits https on 443 alone, so that a credential travels in the clear only where a rule names the port.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import Url, parse_host, parse_port, split_authority


@dataclass(frozen=True, slots=True)
class HostRules:
    """The hosts an app declares. Make one with `HostRules.of("api.example.com", "*.example.net:8443")`."""

    rules: tuple[tuple[str, int | None], ...]

    @classmethod
    def of(cls, *patterns: str) -> "HostRules":
        """Raises ValueError, with a sentence, for a pattern that is no host rule."""
        return cls(tuple(_parse(pattern) for pattern in patterns))

    @classmethod
    def merge(cls, several: Iterable["HostRules"]) -> "HostRules":
        """Whatever any of them admits."""
        return cls(tuple(rule for rules in several for rule in rules.rules))

    def admit(self, url: Url) -> bool:
        """True when some rule names this host and port."""
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
