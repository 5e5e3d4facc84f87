"""A demo installation: its mark (table ``demo``), and the signed links that open one form of it (``demo_link_uses``).

``patchbay demo`` fills an installation and marks it: nothing in it is anybody's. The mark is in the database, where no
setting and no file that somebody copies can put it, and it goes along with a backup. What depends on it: the sentence
on each page, ``patchbay demo --empty``, which removes everything, and demo links.

A link names one action of the sandbox and when it ends. It is signed with a key of this installation and stored
nowhere; only its uses are counted, against :data:`LIMITS`. What its visitors get is left to the dashboard's portal.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Throttled
from webapp.kit.clock import DAY, MINUTE, SECOND, Clock
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

PATH = "/demo"
KEY = "demo-links"  # the purpose of the key that signs them
APP = "sandbox"
VISITOR = "demo-visitor"
"""The external user whom all visitors of demo links act for."""
FORMS: Mapping[str, Mapping[str, Any]] = {
    "sandbox-create-task": {
        "project_id": {"__lv": {"label": "Harbour Renovation", "value": "prj_001"}},
        "title": "Hang the spring wreath",
        "notes": "Written from a demo link.",
    },
    "sandbox-find-tasks": {"text": "the", "limit": 5},
    "sandbox-list-projects": {},
}
"""The actions that a link may open, and the values with which their forms are filled in."""
LIFETIME = DAY
SCOPE = "connect:accounts:read connect:actions:*"
Use = Literal["opening", "form", "run"]
LIMITS: Mapping[Use, tuple[int, int]] = {"opening": (20, 300), "form": (120, 3_000), "run": (20, 200)}
"""How often a link may be used in a minute, and in all."""


def mark(tx: Tx, name: str, at: int) -> None:
    """Mark this installation as the demo of the made-up product ``name``, filled ``at`` epoch milliseconds."""
    tx.run("INSERT INTO demo (name, made_at) VALUES (:name, :at)", {"name": name, "at": at})


def is_demo(reader: Reader) -> bool:
    """Whether this installation is a demo."""
    return reader.one("SELECT 1 AS n FROM demo") is not None


@dataclass(frozen=True, slots=True)
class Link:
    """A demo link that works: its id, the key of its component, and when it ends (epoch milliseconds)."""

    id: str
    component: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class _Uses:
    link: str
    kind: Use
    minute: int
    in_minute: int
    total: int
    expires_at: int


_USES = Table("demo_link_uses", _Uses)


@dataclass(frozen=True, slots=True)
class Links:
    """The demo links of one installation, signed with ``key``."""

    store: Store
    clock: Clock
    key: bytes = field(repr=False)

    def create(self, component: str) -> str:
        """The path of a new link for ``component``, a key of :data:`FORMS`. It is good for a day."""
        values = [secrets.token_urlsafe(12), component, (self.clock() + LIFETIME) // SECOND]
        return f"{PATH}/{self._signer.dumps(values)}"

    def read(self, text: str) -> Link | None:
        """The link with the signed ``text``; None if it was not signed here, or has ended."""
        try:
            link_id, component, expires_s = self._signer.loads(text)
        except BadData:
            return None
        link = Link(link_id, component, expires_s * SECOND)
        return link if link.expires_at > self.clock() and component in FORMS else None

    def count(self, link_id: str, use: Use) -> None:
        """Count a use of the link ``link_id``. Raises :class:`Throttled` beyond its limits.

        Counts outlive the link, since they are kept for as long as a link lives after its last use.
        """
        now, (per_minute, most) = self.clock(), LIMITS[use]
        minute = now // MINUTE
        with self.store.write() as tx:
            tx.run("DELETE FROM demo_link_uses WHERE expires_at <= :now", {"now": now})
            uses = _USES.one(tx, "link = :link AND kind = :kind", {"link": link_id, "kind": use})
            in_minute = uses.in_minute if uses and uses.minute == minute else 0
            total = uses.total if uses else 0
            if total >= most:
                raise _throttled(most, now, now + LIFETIME)
            if in_minute >= per_minute:
                raise _throttled(per_minute, now, (minute + 1) * MINUTE)
            tx.run(
                "INSERT INTO demo_link_uses (link, kind, minute, in_minute, total, expires_at) "
                "VALUES (:link, :kind, :minute, :in_minute, :total, :expires_at) ON CONFLICT (link, kind) DO UPDATE "
                "SET minute = excluded.minute, in_minute = excluded.in_minute, total = excluded.total, "
                "expires_at = excluded.expires_at",
                {
                    "link": link_id, "kind": use, "minute": minute, "in_minute": in_minute + 1, "total": total + 1,
                    "expires_at": now + LIFETIME,
                },
            )  # fmt: skip

    @property
    def _signer(self) -> URLSafeSerializer:
        return URLSafeSerializer(self.key, salt="demo-link")


def _throttled(limit: int, now: int, until: int) -> Throttled:
    return Throttled(limit, until // SECOND, max((until - now + SECOND - 1) // SECOND, 1))
