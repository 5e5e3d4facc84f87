"""Agents that may ask people to let them in, and where they may be sent back to. This module owns ``agent_clients``.

Most registered themselves (RFC 7591). Anybody may register one; it is nothing until a person lets it in, and is
forgotten after a day without that. What it calls itself is its own word: the consent page shows where it sends people
back to beside its name. It has no secret.

Others are known by the address of a document (:mod:`webapp.people.agents.documents`).

A redirect URI (RFC 8252, RFC 9700 section 2.1) is https, or http on this machine (loopback), or of a scheme that a
program on the person's device answers, such as ``cursor://``. It must be exactly one that was registered, except that a
program on this machine may listen on any port.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from webapp.errors import Detail, Invalid
from webapp.kit.clock import DAY, Clock
from webapp.kit.crypto import new_id
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

MAX_REDIRECT = 1_000
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SCHEME = re.compile(r"[a-z][a-z0-9.+-]{1,60}")
_PLACE = re.compile(r"(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?")
# What a browser would run, read or look up by itself.
_UNFIT = {
    *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "http", "intent", "javascript", "mailto", "sms"),
    *("tel", "urn", "vbscript", "view-source", "ws", "wss"),
}
UNUSED, FORGOTTEN = DAY, 365 * DAY
MAX_URIS = 10
MAX_NAME = 80
NAMELESS = "An agent without a name"


def usable_redirect(uri: str) -> bool:
    """Whether an agent may register ``uri``."""
    if len(uri) > MAX_REDIRECT or not uri.isascii() or not uri.isprintable() or any(c in uri for c in ' "<>\\^`{|}#'):
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


def redirect_matches(uri: str, registered: Iterable[str]) -> bool:
    """Whether ``uri`` is one of those that were registered; of one on this machine, the port is free (RFC 8252 7.3)."""
    return usable_redirect(uri) and any(uri == known or _same_but_port(uri, known) for known in registered)


def redirect_place(uri: str) -> str:
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


@dataclass(frozen=True, slots=True)
class AgentClient:
    """One of them. ``used_at`` is when somebody last let it in, and ``fresh_until`` for how long what stands at its
    address is known, where it has one, in epoch milliseconds."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    created_at: int
    used_at: int | None = None
    fresh_until: int | None = None


_CLIENTS = Table("agent_clients", AgentClient)


def register(store: Store, clock: Clock, *, name: str, redirect_uris: tuple[str, ...]) -> AgentClient:
    """Keep an agent that asks to be known. Raises :class:`Invalid` for addresses that nobody may be sent to."""
    _check(redirect_uris)
    client = AgentClient(new_id("agent"), shown_name(name), redirect_uris, clock())
    with store.write() as tx:
        _CLIENTS.insert(tx, client)
    return client


def learn(
    store: Store, now: int, address: str, name: str, redirect_uris: tuple[str, ...], lifetime: int
) -> AgentClient:
    """Keep what stands at the address of an agent for ``lifetime`` milliseconds. Raises as :func:`register` does."""
    _check(redirect_uris)
    client = AgentClient(address, shown_name(name), redirect_uris, now, fresh_until=now + lifetime)
    with store.write() as tx:
        _CLIENTS.upsert(tx, client, keep=("created_at", "used_at"))
    return client


def find(reader: Reader, client_id: str) -> AgentClient | None:
    """The agent of that id, if it is known."""
    return _CLIENTS.get(reader, client_id)


def used(tx: Tx, client_id: str, now: int) -> None:
    """Somebody lets it in."""
    _CLIENTS.update(tx, client_id, used_at=now)


def purge(store: Store, clock: Clock) -> int:
    """Forget those that nobody let in for a day, and those that nobody has let in for a year and that hold no grant."""
    now = clock()
    with store.write() as tx:
        return tx.run(
            "DELETE FROM agent_clients WHERE (used_at IS NULL AND created_at < :unused) OR (used_at < :forgotten "
            "AND NOT EXISTS (SELECT 1 FROM agent_grants g WHERE g.client_id = agent_clients.id))",
            {"unused": now - UNUSED, "forgotten": now - FORGOTTEN},
        )


def shown_name(name: str) -> str:
    """``name`` as a page may show it: one line of at most 80 characters."""
    printable = "".join(character if character.isprintable() else " " for character in name)
    return " ".join(printable.split())[:MAX_NAME].strip() or NAMELESS


def _check(redirect_uris: tuple[str, ...]) -> None:
    if not 1 <= len(redirect_uris) <= MAX_URIS:
        raise _bad(f"Name 1 to {MAX_URIS} addresses to send people back to.")
    for uri in redirect_uris:
        if not usable_redirect(uri):
            raise _bad("Use https, http on this machine (localhost), or the scheme of a program, without a fragment.")


def _bad(sentence: str) -> Invalid:
    return Invalid(sentence, [Detail("redirect_uris", sentence)])
