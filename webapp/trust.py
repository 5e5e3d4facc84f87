"""Which parts of a request the web server trusts: its Host, and who forwarded it.

``Host`` must be the public address's, or a trigger's own below the domain for them. ``X-Forwarded-For``, ``-Proto`` and
``-Host`` count only when the peer is one of the trusted proxies; from anyone else they are dropped.
A proxy that nobody named is told apart and warned of, since everybody behind it has its address.
"""

import ipaddress
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webapp.kit.networks import UNNAMED_PROXY
from webapp.service.inbound.hooks import TriggerHosts
from webapp.settings import LOOPBACK_NAMES, Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)
_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST", "HTTP_FORWARDED")
WHY = "until then all requests seem to come from one place, and limits cannot tell a stranger from anybody else."
_PROBES = ("/healthz", "/readyz", "/metrics")
"""What watches one machine of several asks for them by that machine's own name, and from the machine itself."""


def trusted(wsgi: "WSGIApplication", settings: Settings) -> "WSGIApplication":
    """``wsgi`` behind the checks of this module."""
    hosts, triggers, warned = allowed_hosts(settings), TriggerHosts(settings), set[str]()
    networks = [ipaddress.ip_network(entry) for entry in settings.trusted_proxies]

    def checked(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        peer = environ.get("REMOTE_ADDR", "")
        if _is_trusted(peer, networks):
            _apply_forwarded(environ)
        elif environ.get("PATH_INFO") not in _PROBES and _is_unnamed_proxy(peer, environ, settings):
            environ[UNNAMED_PROXY] = peer
            if not warned:
                warned.add(peer)
                log.warning("A proxy at %s forwards requests; name it in PATCHBAY_TRUSTED_PROXIES: %s", peer, WHY)
        for name in _FORWARDED:
            environ.pop(name, None)
        host = environ.get("HTTP_HOST", "").lower()
        if host not in hosts and not triggers.route(environ, host) and environ.get("PATH_INFO") not in _PROBES:
            return _misdirected(start_response, settings)
        return wsgi(environ, start_response)

    return checked


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The values of the Host header that are ours; a loopback address is known by each of its names."""
    parts = urlsplit(settings.public_url)
    names = {parts.hostname or ""} | (LOOPBACK_NAMES if settings.loopback else frozenset())
    default = {"http": 80, "https": 443}[parts.scheme]
    port = parts.port or default
    hosts = set()
    for name in names:
        shown = f"[{name}]" if ":" in name else name
        hosts.add(f"{shown}:{port}")
        if port == default:
            hosts.add(shown)
    return frozenset(hosts)


def _apply_forwarded(environ: "WSGIEnvironment") -> None:
    """Take the address, scheme and host from the nearest proxy's entries: the last ones."""
    for name, target in (("HTTP_X_FORWARDED_FOR", "REMOTE_ADDR"), ("HTTP_X_FORWARDED_HOST", "HTTP_HOST")):
        value = environ.get(name, "").split(",")[-1].strip()
        if value:
            environ[target] = value
    scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").split(",")[-1].strip().lower()
    if scheme in ("http", "https"):
        environ["wsgi.url_scheme"] = scheme


def _is_trusted(address: str, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    try:
        peer = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(peer in network for network in networks)


def _is_unnamed_proxy(peer: str, environ: "WSGIEnvironment", settings: Settings) -> bool:
    """Whether ``peer`` stands between us and others: it says so, or is this machine although others are meant to call.

    Whoever calls from the internet may say so too, and is believed no more than that.
    """
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback and not settings.loopback:
        return True
    return not address.is_global and any(name in environ for name in _FORWARDED)


def _misdirected(start_response: "StartResponse", settings: Settings) -> list[bytes]:
    sentence = f"This server answers as {settings.public_url}; use that address, or set PATCHBAY_PUBLIC_URL to yours."
    body = f'{{"error": "{sentence}"}}'.encode()
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
    ]
    start_response("400 Bad Request", headers)
    return [body]
