"""Portal sessions (table ``portal_sessions``): a Connect token that was replaced by a handle in the address, without
a cookie.

The handle is in the path of every page of the frame and is as powerful as the token: it authenticates the user, and
proves that the page itself sends a form. The table has its hash, and the token in a box that only the handle opens, so
that neither the database nor a key of the installation reveals it. A session ends with its token, and is kept for a
week, so that a page that is left open can continue with a new token of the same user.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from webapp.dashboard.client.connect import TokenFacts
from webapp.kit import crypto
from webapp.kit.clock import DAY, Clock
from webapp.store.contract import Reader, Store
from webapp.store.table import Table

PREFIX = "ps_"
REMEMBERED = 7 * DAY
_PURPOSE = "portal-session"


@dataclass(frozen=True, slots=True)
class Look:
    """How the product shows it: ``nav`` is off for a single page; ``language`` is "" for the browser's."""

    nav: bool = True
    theme: str = "auto"
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A row."""

    id: str
    token_box: bytes = field(repr=False)
    viewer: str
    user_id: str | None
    facts: str
    nav: bool
    theme: str
    language: str
    notes: str
    created_at: int
    expires_at: int
    demo_link: str
    component: str


@dataclass(frozen=True, slots=True)
class PortalSession:
    """One frame, with its token. ``notes`` are what the page before left to say: tone and sentence.

    One of a demo link has the link's id and shows only the form of ``component``; they are "" for all others.
    """

    handle: str = field(repr=False)
    token: str = field(repr=False)
    viewer: str
    user_id: str | None
    facts: TokenFacts
    look: Look
    notes: tuple[tuple[str, str], ...]
    expires_at: int
    demo_link: str = ""
    component: str = ""

    @property
    def base(self) -> str:
        """The prefix of its pages' addresses."""
        return f"/portal/{self.handle}"


_SESSIONS = Table("portal_sessions", _Stored)


def create(
    store: Store,
    clock: Clock,
    token: str,
    facts: TokenFacts,
    look: Look,
    *,
    owned: bool,
    notes: str = "[]",
    demo_link: str = "",
    component: str = "",
) -> PortalSession:
    """A session of ``token``; ``owned`` where its user is this installation's. Those long over are forgotten."""
    handle = PREFIX + secrets.token_urlsafe(32)
    user_id = facts.user_id if owned and facts.user_id else None
    viewer = user_id or f"portal {facts.project_id} {facts.project_environment} {facts.external_user_id}"
    stored = _Stored(
        crypto.hash_token(handle), crypto.seal(_key(handle), token.encode(), _PURPOSE), viewer, user_id,
        facts.model_dump_json(), look.nav, look.theme, look.language, notes, clock(), facts.ends_at,
        demo_link, component,
    )  # fmt: skip
    with store.write() as tx:
        tx.run("DELETE FROM portal_sessions WHERE expires_at < :limit", {"limit": clock() - REMEMBERED})
        _SESSIONS.insert(tx, stored)
    return _opened(handle, stored)


def find(reader: Reader, handle: str) -> PortalSession | None:
    """The session of ``handle``, also one that has ended and is remembered."""
    stored = _SESSIONS.get(reader, crypto.hash_token(handle)) if handle.startswith(PREFIX) else None
    return _opened(handle, stored) if stored else None


def note(store: Store, handle: str, notes: Sequence[tuple[str, str]]) -> None:
    """Keep what a page leaves to say for the next one."""
    with store.write() as tx:
        _SESSIONS.update(tx, crypto.hash_token(handle), notes=json.dumps(notes))


def _opened(handle: str, stored: _Stored) -> PortalSession:
    return PortalSession(
        handle,
        crypto.open_sealed(_key(handle), stored.token_box, _PURPOSE).decode(),
        stored.viewer,
        stored.user_id,
        TokenFacts.model_validate_json(stored.facts),
        Look(stored.nav, stored.theme, stored.language),
        tuple((tone, sentence) for tone, sentence in json.loads(stored.notes)),
        stored.expires_at,
        stored.demo_link,
        stored.component,
    )


def _key(handle: str) -> bytes:
    return crypto.derive(handle.encode("utf-8", "surrogatepass"), _PURPOSE)
