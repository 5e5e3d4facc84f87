"""Origins that Connect tokens allow (table ``token_origins``): whose pages may read answers across origins.

An origin is remembered as long as the rows of the tokens that allow it, so that a page still reads its 401.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from webapp.errors import Invalid
from webapp.kit.clock import DAY
from webapp.service.domain.base.service import Service
from webapp.store.contract import Tx

REMEMBERED = 7 * DAY
MAX_ORIGINS = 100


def checked(texts: Sequence[str]) -> tuple[str, ...]:
    """``texts`` as exact origins, each once. Raises :class:`Invalid`."""
    if len(texts) > MAX_ORIGINS:
        raise Invalid.of("allowed_origins", f"At most {MAX_ORIGINS} origins can be allowed.")
    exact = {text: exact_origin(text) for text in texts}
    for text, origin in exact.items():
        if origin is None:
            message = f"{text[:200]!r} is not an origin such as https://app.example.com (no path, no *)."
            raise Invalid.of("allowed_origins", message)
    return tuple(dict.fromkeys(origin for origin in exact.values() if origin is not None))


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
    return row is not None and int(row["expires_at"]) + REMEMBERED > service.clock()


def purge(tx: Tx, limit: int) -> None:
    """Forget origins whose last token expired before ``limit`` (epoch milliseconds)."""
    tx.run("DELETE FROM token_origins WHERE expires_at < :limit", {"limit": limit})


def exact_origin(text: str) -> str | None:
    """``text`` as the exact origin that a browser would send, or None when it is none (RFC 6454 section 6.1)."""
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
        host = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return None
    shown = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, default) else "")
