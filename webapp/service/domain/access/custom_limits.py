"""Custom rate limits (table ``custom_limits``; contract "Custom rate limits"), which are created once and never
changed.

A call names its limit by a token, a bearer secret of little weight, which is stored as a hash like all others.
"""

from dataclasses import dataclass

from webapp import audit
from webapp.kit import cursors
from webapp.kit.crypto import hash_token, random_base62
from webapp.service.domain.base.rate_limits import Limit
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader
from webapp.store.table import Table

PREFIX = "rl_"
MAX_WINDOW_S = 86_400
MAX_REQUESTS = 1_000_000
_RANDOM = 32


@dataclass(frozen=True, slots=True)
class CustomLimit:
    """A row: a limit, under the hash of its token."""

    token_hash: str
    limit: Limit
    created_at: int

    @property
    def id(self) -> str:
        """The id of the limit in lists and in the audit log."""
        return self.token_hash[:12]

    @property
    def key(self) -> str:
        """What calls that send its token are counted under."""
        return key_of(self.token_hash)


_LIMITS = Table("custom_limits", CustomLimit, key="token_hash")


def key_of(token_hash: str) -> str:
    """The key under which calls with the token of this hash are counted."""
    return f"custom|{token_hash}"


def create(service: Service, limit: Limit) -> str:
    """Keep ``limit``; the token that names it."""
    token = PREFIX + random_base62(_RANDOM)
    custom = CustomLimit(hash_token(token), limit, service.clock())
    with service.store.write() as tx:
        _LIMITS.insert(tx, custom)
        sentence = f"Made a limit of {limit.requests:,} requests in {limit.window_s:,} seconds."
        audit.write(tx, custom.created_at, "rate_limit", custom.id, "created", sentence)
    return token


def find(reader: Reader, token_hash: str) -> Limit | None:
    """The limit whose token has this hash, if there is one."""
    custom = _LIMITS.get(reader, token_hash)
    return custom.limit if custom else None


def page(reader: Reader, window: cursors.Window) -> cursors.Page[CustomLimit]:
    """All of them, the newest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _LIMITS.page(reader, window, "1 = 1", order=("created_at", "token_hash"), descending=True)
