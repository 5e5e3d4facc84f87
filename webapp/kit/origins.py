"""Origins as browsers send them (RFC 6454 section 6.1): scheme, host, and the port unless it is the default."""

import re
from urllib.parse import urlsplit

import idna

DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")  # no character that could end a CSP directive


def checked_origin(text: str) -> str:
    """``text`` as an exact origin. Raises ``ValueError`` with a message to show if it is not an origin."""
    origin = exact_origin(text)
    if origin is None:
        raise ValueError(f"{text[:200]!r} is not an origin such as https://app.example.com (no path, no *).")
    return origin


def exact_origin(text: str) -> str | None:
    """``text`` as the exact origin that a browser would send, or None if it is not an origin."""
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or "*" in host or parts.username is not None:
        return None
    if parts.path not in ("", "/") or parts.query or parts.fragment or not text.isprintable() or " " in text:
        return None
    try:
        host = idna.encode(host, uts46=True).decode() if not host.isascii() else host
    except UnicodeError:
        return None
    if not _HOST.fullmatch(host):
        return None
    shown = f"[{host}]" if ":" in host else host
    default = DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, default) else "")


def origin_of(url: str) -> str:
    """``url`` without its path, query and fragment."""
    scheme, mark, rest = url.partition("://")
    end = min((rest.find(sign) for sign in "/?#" if sign in rest), default=len(rest))
    return f"{scheme}{mark}{rest[:end]}"
