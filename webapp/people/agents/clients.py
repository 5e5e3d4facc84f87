"""Agents that may ask people to let them in. This module owns ``agent_clients``.

Most registered themselves (RFC 7591); others are known by the address of a document
(:mod:`webapp.people.agents.documents`).

Anybody may register one; it is nothing until a person lets it in, and is forgotten after a day without that. What it
calls itself is its own word: the consent page shows where it sends people back to beside its name. It has no secret.
"""

from dataclasses import dataclass

from webapp.errors import Detail, Invalid
from webapp.kit.clock import DAY, Clock
from webapp.kit.crypto import new_id
from webapp.people.agents import redirects
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

UNUSED, FORGOTTEN = DAY, 365 * DAY
MAX_URIS = 10
MAX_NAME = 80
NAMELESS = "An agent without a name"


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
        if not redirects.usable(uri):
            raise _bad("Use https, http on this machine (localhost), or the scheme of a program, without a fragment.")


def _bad(sentence: str) -> Invalid:
    return Invalid(sentence, [Detail("redirect_uris", sentence)])
