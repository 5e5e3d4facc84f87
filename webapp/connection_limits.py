"""Limits of connections, as a table: deadlines, and how many may be open. Each row is a setting.

They are chosen so that clients at a usual pace are never disconnected; slow ones are, and never occupy a thread.
"""

from typing import NamedTuple


class Bound(NamedTuple):
    """A limit. ``name`` is the setting without ``PATCHBAY_``, and ``most`` its highest allowed value."""

    name: str
    default: int
    most: int
    help: str


BODY_RATE = 32 * 1024
HEADERS_S = Bound("HEADERS_S", 15, 3_600, "Seconds in which the headers of a request must have come.")
BODY_S = Bound(
    "BODY_S", 30, 86_400, "Seconds in which its body must have come, and one more for each 32 KiB that came."
)
CONNECTIONS = Bound("CONNECTIONS", 2_000, 100_000, "HTTP connections that are open at once.")
ADDRESS_CONNECTIONS = Bound(
    "ADDRESS_CONNECTIONS", 200, 100_000, "The same from one network address that is no trusted proxy."
)
MAIL_SESSIONS = Bound("MAIL_SESSIONS", 200, 10_000, "Senders of mail that are connected at once.")
ADDRESS_MAIL_SESSIONS = Bound("ADDRESS_MAIL_SESSIONS", 20, 10_000, "The same from one network address.")
MAIL_S = Bound("MAIL_S", 600, 86_400, "Seconds in which a connected sender must have sent a mail, or the next one.")
TABLE = (HEADERS_S, BODY_S, CONNECTIONS, ADDRESS_CONNECTIONS, MAIL_SESSIONS, ADDRESS_MAIL_SESSIONS, MAIL_S)
DEFAULTS = {row.name: row.default for row in TABLE}
