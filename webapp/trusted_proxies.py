"""WSGI middleware that checks the Host header and accepts forwarded headers only from trusted proxies.

``Host`` must be that of the public URL, or a trigger's own host below the configured domain. ``X-Forwarded-For``,
``-Proto`` and ``-Host`` are used only if the peer is a trusted proxy, and removed otherwise. A proxy that is not
configured is detected and logged, because all clients behind it seem to have its address.
"""

import ipaddress
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webapp import content_security_policies
from webapp.kit.networks import LOOPBACK_NAMES, UNNAMED_PROXY
from webapp.service.inbound.hooks import TriggerHosts
from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)
_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST", "HTTP_FORWARDED")
WHY = "until then all requests seem to come from one place, and limits cannot tell a stranger from anybody else."
_PROBES = ("/healthz", "/readyz", "/metrics")
"""The paths that monitoring requests with a machine's own host name, or from the machine itself."""


def trusted(wsgi: "WSGIApplication", settings: Settings) -> "WSGIApplication":
    """``wsgi`` with the checks of this module."""
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
    """The allowed values of the Host header; a loopback address has several names."""
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
    """Set the address, scheme and host from the last forwarded entries, which the nearest proxy added."""
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
    """Whether ``peer`` seems to be a proxy: it is this machine although the public URL is not, or it has a private
    address and sends forwarded headers. Such headers from the internet are ignored.
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
        ("Content-Security-Policy", content_security_policies.NO_PAGE),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
    ]
    start_response("400 Bad Request", headers)
    return [body]
