"""The OAuth clients of agents, and their redirect URIs. This module owns ``agent_clients``.

Most agents register themselves (RFC 7591). Anybody may register one; it has no access until a person allows it, and is
deleted if nobody does within a day. It chooses its own name, so the consent page also shows its redirect URI. It has no
secret.

Other agents have the URL of a metadata document as their id (:mod:`webapp.people.agents.documents`).

A redirect URI (RFC 8252, RFC 9700 section 2.1) uses https, http on the loopback interface, or a private scheme such as
``cursor://``. It must equal a registered one, except that the port of a loopback address may differ.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from webapp.errors import Detail, Invalid
from webapp.kit.clock import DAY, Clock
from webapp.kit.crypto import new_id
from webapp.kit.networks import LOOPBACK_NAMES
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

MAX_REDIRECT = 1_000
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
    """Whether ``uri`` may be registered as a redirect URI."""
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
    """Whether ``uri`` leads to a program on the person's own machine (RFC 8252 section 7.3)."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK_NAMES


def redirect_matches(uri: str, registered: Iterable[str]) -> bool:
    """Whether ``uri`` is one of those ``registered``; the port of a loopback address may differ (RFC 8252 section
    7.3).
    """
    return usable_redirect(uri) and any(uri == known or _same_but_port(uri, known) for known in registered)


def redirect_place(uri: str) -> str:
    """What a person reads of ``uri``: its host, or the scheme of a program; "" for a loopback address."""
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
    """One client, with times in epoch milliseconds.

    ``used_at`` is when a person last allowed it. ``fresh_until`` is how long its metadata document may be used, if it
    has one.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    created_at: int
    used_at: int | None = None
    fresh_until: int | None = None


_CLIENTS = Table("agent_clients", AgentClient)


def register(store: Store, clock: Clock, *, name: str, redirect_uris: tuple[str, ...]) -> AgentClient:
    """Register an agent. Raises :class:`Invalid` for redirect URIs that may not be used."""
    _check(redirect_uris)
    client = AgentClient(new_id("agent"), shown_name(name), redirect_uris, clock())
    with store.write() as tx:
        _CLIENTS.insert(tx, client)
    return client


def learn(
    store: Store, now: int, address: str, name: str, redirect_uris: tuple[str, ...], lifetime: int
) -> AgentClient:
    """Store the metadata document of an agent for ``lifetime`` milliseconds.

    Raises :class:`Invalid` for redirect URIs that may not be used.
    """
    _check(redirect_uris)
    client = AgentClient(address, shown_name(name), redirect_uris, now, fresh_until=now + lifetime)
    with store.write() as tx:
        _CLIENTS.upsert(tx, client, keep=("created_at", "used_at"))
    return client


def find(reader: Reader, client_id: str) -> AgentClient | None:
    """The client with that id, or None."""
    return _CLIENTS.get(reader, client_id)


def used(tx: Tx, client_id: str, now: int) -> None:
    """Record that a person allowed the client."""
    _CLIENTS.update(tx, client_id, used_at=now)


def purge(store: Store, clock: Clock) -> int:
    """Delete clients that nobody allowed within a day, and those without a grant that nobody has allowed for a year;
    return their number.
    """
    now = clock()
    with store.write() as tx:
        return tx.run(
            "DELETE FROM agent_clients WHERE (used_at IS NULL AND created_at < :unused) OR (used_at < :forgotten "
            "AND NOT EXISTS (SELECT 1 FROM agent_grants g WHERE g.client_id = agent_clients.id))",
            {"unused": now - UNUSED, "forgotten": now - FORGOTTEN},
        )


def shown_name(name: str) -> str:
    """``name`` as pages show it: one line of at most 80 printable characters."""
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
