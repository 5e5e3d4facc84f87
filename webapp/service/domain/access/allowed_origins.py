"""The origins that Connect tokens allow (contract "CORS"): they are checked, and remembered with their tokens.

This module owns the table ``token_origins``. An origin is kept as long as the last token that allows it, so that the
page which has an expired one can still read the 401 across origins.
"""

from collections.abc import Iterable, Sequence

from webapp.connect_token_facts import REMEMBERED_S
from webapp.errors import Invalid
from webapp.kit.clock import SECOND
from webapp.kit.origins import checked_origin
from webapp.service.domain.base.service import Service
from webapp.store.contract import Tx

MAX_ORIGINS = 100


def checked(texts: Sequence[str]) -> tuple[str, ...]:
    """``texts`` as exact origins, each once. Raises :class:`Invalid`."""
    if len(texts) > MAX_ORIGINS:
        raise Invalid.of("allowed_origins", f"At most {MAX_ORIGINS} origins can be allowed.")
    try:
        return tuple(dict.fromkeys(checked_origin(text) for text in texts))
    except ValueError as error:
        raise Invalid.of("allowed_origins", str(error)) from error


def remember(tx: Tx, allowed: Iterable[str], expires_at: int) -> None:
    """Keep the origins of a token that expires at ``expires_at`` (epoch milliseconds)."""
    for origin in allowed:
        tx.run(
            "INSERT INTO token_origins (origin, expires_at) VALUES (:origin, :expires) ON CONFLICT (origin) "
            "DO UPDATE SET expires_at = excluded.expires_at WHERE token_origins.expires_at < excluded.expires_at",
            {"origin": origin, "expires": expires_at},
        )


def is_allowed(service: Service, origin: str) -> bool:
    """Whether some live token, of whichever project, or one that expired within 7 days, allows ``origin``."""
    row = service.store.one("SELECT expires_at FROM token_origins WHERE origin = :origin", {"origin": origin})
    return row is not None and int(row["expires_at"]) + REMEMBERED_S * SECOND > service.clock()


def purge(tx: Tx, limit: int) -> None:
    """Forget origins whose last token expired before ``limit`` (epoch milliseconds)."""
    tx.run("DELETE FROM token_origins WHERE expires_at < :limit", {"limit": limit})
