"""Where an agent may be sent back to after a sign-in (RFC 8252, RFC 9700 section 2.1).

An address is https, or http on this machine (loopback), or of a scheme that a program on the person's device answers,
such as ``cursor://``. It must be exactly one that was registered, but that a program on this machine may listen on any
port.
"""

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

MAX_LENGTH = 1_000
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SCHEME = re.compile(r"[a-z][a-z0-9.+-]{1,60}")
_PLACE = re.compile(r"(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?")
# What a browser would run, read or look up by itself.
_UNFIT = {
    *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "http", "intent", "javascript", "mailto", "sms"),
    *("tel", "urn", "vbscript", "view-source", "ws", "wss"),
}


def usable(uri: str) -> bool:
    """Whether an agent may register ``uri``."""
    if len(uri) > MAX_LENGTH or not uri.isascii() or not uri.isprintable() or any(c in uri for c in ' "<>\\^`{|}#'):
        return False
    parts = _split(uri)
    if parts is None or "@" in parts.netloc:
        return False
    if parts.scheme == "https":
        return bool(_PLACE.fullmatch(parts.netloc))  # it stands in a page and in a policy of ours
    if is_loopback(uri):
        return True
    private = bool(_SCHEME.fullmatch(parts.scheme)) and parts.scheme not in _UNFIT
    return private and uri.startswith(f"{parts.scheme}:/")


def is_loopback(uri: str) -> bool:
    """Whether ``uri`` leads to a program on the person's own machine."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK


def matches(uri: str, registered: Iterable[str]) -> bool:
    """Whether ``uri`` is one of those that were registered; of one on this machine, the port is free (RFC 8252 7.3)."""
    return usable(uri) and any(uri == known or _same_but_port(uri, known) for known in registered)


def place(uri: str) -> str:
    """Where ``uri`` leads, for people: its host, or the scheme of a program; "" for one on this machine."""
    parts = urlsplit(uri)
    if is_loopback(uri):
        return ""
    return parts.netloc if parts.scheme == "https" else f"{parts.scheme}:"


def _same_but_port(uri: str, known: str) -> bool:
    if not (is_loopback(uri) and is_loopback(known)):
        return False
    one_side, other = urlsplit(uri), urlsplit(known)
    return (one_side.hostname, one_side.path, one_side.query) == (other.hostname, other.path, other.query)


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        return parts if parts.port != 0 else None
    except ValueError:
        return None
