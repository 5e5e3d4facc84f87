"""The table ``custom_limits`` (contract "Custom rate limits"): made once, named by a token, never changed.

The token is a bearer secret of little weight; it is stored as a hash like every other.
"""

from webapp import audit
from webapp.kit.crypto import hash_token, random_base62
from webapp.service.domain.base.rate_limits import Limit
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader
from webapp.store.table import Table

PREFIX = "rl_"
MAX_WINDOW_S = 86_400
MAX_REQUESTS = 1_000_000
_RANDOM = 32
_LIMITS = Table("custom_limits", Limit, key="token_hash", write_only=("token_hash", "created_at"))


def create(service: Service, limit: Limit) -> str:
    """Keep ``limit``; the token that names it."""
    token = PREFIX + random_base62(_RANDOM)
    with service.store.write() as tx:
        _LIMITS.insert(tx, limit, token_hash=hash_token(token), created_at=service.clock())
        sentence = f"Made a limit of {limit.requests:,} requests in {limit.window_s:,} seconds."
        audit.write(tx, service.clock(), "rate_limit", hash_token(token)[:12], "created", sentence)
    return token


def find(reader: Reader, token_hash: str) -> Limit | None:
    """The limit whose token has this hash, if there is one."""
    return _LIMITS.get(reader, token_hash)
