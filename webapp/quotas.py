"""Quotas: limits of what one caller may own, request or keep open, as a table. Each row is a setting.

:meth:`webapp.service.domain.base.service.Service.hold` enforces quotas of stored things, such as deployed triggers;
:meth:`webapp.service.domain.base.service.Service.count` those of a window of time, such as runs. Refusals are counted
for ``/metrics`` and logged at most once a minute.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from webapp import connection_limits
from webapp.errors import Forbidden, Invalid, PatchbayError, Throttled, TooLarge

MINUTE_S, HOUR_S = 60, 3_600
KB, MB = 1 << 10, 1 << 20
LOGGED_EVERY_S = 60.0
log = logging.getLogger("patchbay.quotas")


class Quota(NamedTuple):
    """A quota. ``name`` is the setting without ``PATCHBAY_``, and ``most`` its highest allowed value.

    Beyond it, ``error`` is raised with the message ``sentence``, which contains ``{limit}``. ``help`` is for operators.
    ``window_s`` is the window in seconds; 0 for a quota of what is stored. ``unit`` is the size of one step.
    """

    name: str
    default: int
    most: int
    error: type[PatchbayError]
    sentence: str
    help: str
    window_s: int = 0
    unit: int = 1

    def words(self, limit: int) -> str:
        """The message, with the operator's ``limit``."""
        return self.sentence.format(limit=f"{limit:,}")


_TOO_OFTEN = "It may not run more often than every {limit} seconds."

MIN_POLL_S = Quota(
    "MIN_POLL_S", 15, 86_400, Invalid, _TOO_OFTEN, "Shortest interval in seconds at which a trigger may poll an app."
)
MIN_TIMER_S = Quota(
    "MIN_TIMER_S", 1, 86_400, Invalid, _TOO_OFTEN, "Shortest interval in seconds of a timer that asks no app."
)
USER_TRIGGERS = Quota(
    "USER_TRIGGERS",
    100,
    1_000_000,
    Forbidden,
    "This user has as many triggers as one user may have ({limit}); delete one first.",
    "Triggers that one external user may have.",
)
PROJECT_TRIGGERS = Quota(
    "PROJECT_TRIGGERS",
    10_000,
    10_000_000,
    Forbidden,
    "This project has as many triggers as one project may have ({limit}); delete one first.",
    "Triggers that one project may have.",
)
USER_RUNS = Quota(
    "USER_RUNS",
    4_000,
    1_000_000,
    Throttled,
    "One user may call components {limit} times a minute; wait a moment.",
    "Calls of components (configure, props, run) a minute for one external user.",
    MINUTE_S,
)
PROJECT_RUNS = Quota(
    "PROJECT_RUNS",
    8_000,
    10_000_000,
    Throttled,
    "One environment of a project may call components {limit} times a minute; wait a moment.",
    "The same for one project and environment.",
    MINUTE_S,
)
ADDRESS_REQUESTS = Quota(
    "ADDRESS_REQUESTS",
    12_000,
    10_000_000,
    Throttled,
    "One address may send {limit} requests to triggers a minute; send this one again later.",
    "Requests to triggers (/h/) a minute from one network address.",
    MINUTE_S,
)
TRIGGER_REQUESTS = Quota(
    "TRIGGER_REQUESTS",
    6_000,
    10_000_000,
    Throttled,
    "One trigger may get {limit} requests a minute; send this one again later.",
    "The same to one trigger; mails to its address too.",
    MINUTE_S,
)
USER_REQUESTS = Quota(
    "USER_REQUESTS",
    12_000,
    10_000_000,
    Throttled,
    "The triggers of one user may get {limit} requests a minute; send this one again later.",
    "The same to all triggers of one external user.",
    MINUTE_S,
)
ADDRESS_MB = Quota(
    "ADDRESS_MB",
    2_048,
    10_000_000,
    Throttled,
    "One address may send {limit} MiB to triggers an hour; send this later.",
    "MiB of bodies that one network address may send to triggers an hour.",
    HOUR_S,
    MB,
)
TRIGGER_MB = Quota(
    "TRIGGER_MB",
    1_024,
    10_000_000,
    TooLarge,
    "This trigger keeps {limit} MiB of events, which is all it may; older ones go with time, or when it is deleted.",
    "MiB of events that came from outside and are kept of one trigger.",
    unit=MB,
)
USER_MB = Quota(
    "USER_MB",
    4_096,
    10_000_000,
    TooLarge,
    "The triggers of this user keep {limit} MiB of events, which is all they may; older ones go with time.",
    "The same of all triggers of one external user.",
    unit=MB,
)
USER_STORE_KB = Quota(
    "USER_STORE_KB",
    1_024,
    10_000_000,
    TooLarge,
    "Integrations keep at most {limit} KiB for one user.",
    "KiB that integrations from npm may keep in their stores for one external user.",
    unit=KB,
)
USER_AGENTS = Quota(
    "USER_AGENTS",
    100,
    1_000_000,
    Forbidden,
    "As many agents came in for this user as may ({limit}); end one that is not needed on the page Agents.",
    "Agents that may connect for one external user.",
)
USER_APPROVALS = Quota(
    "USER_APPROVALS",
    50,
    1_000_000,
    Forbidden,
    "As many calls of agents wait for this user's yes as may ({limit}); answer them first.",
    "Calls of agents that may wait for approval by one external user.",
)
AGENT_REGISTRATIONS = Quota(
    "AGENT_REGISTRATIONS",
    60,
    1_000_000,
    Throttled,
    "One address may register {limit} agents an hour; wait a while.",
    "Agents that one network address may register an hour.",
    HOUR_S,
)
WRONG_SECRETS = Quota(
    "WRONG_SECRETS",
    20,
    1_000_000,
    Throttled,
    "One address may send {limit} wrong secrets of a client a minute; wait a moment.",
    "Wrong secrets of one OAuth client a minute from one network address.",
    MINUTE_S,
)
TABLE = (
    MIN_POLL_S,
    MIN_TIMER_S,
    USER_TRIGGERS,
    PROJECT_TRIGGERS,
    USER_RUNS,
    PROJECT_RUNS,
    ADDRESS_REQUESTS,
    TRIGGER_REQUESTS,
    USER_REQUESTS,
    ADDRESS_MB,
    TRIGGER_MB,
    USER_MB,
    USER_STORE_KB,
    USER_AGENTS,
    USER_APPROVALS,
    AGENT_REGISTRATIONS,
    WRONG_SECRETS,
)


class Refusals:
    """Counts and logs what this process refused, by quota. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self.watch: Callable[[str], None] = lambda _: None  # called with the name of the quota for each refusal
        self._logged: dict[str, tuple[float, int]] = {}  # when it was logged, and the count at that time

    def add(self, name: str, limit: int) -> None:
        """Count a refusal by the quota or deadline ``name``, whose value is ``limit``."""
        now = time.monotonic()
        self.watch(name.lower())
        with self._lock:
            self._counts[name] += 1
            count = self._counts[name]
            at, before = self._logged.get(name, (now - LOGGED_EVERY_S, 0))
            if now - at < LOGGED_EVERY_S:
                return
            self._logged[name] = now, count
        log.warning("PATCHBAY_%s (%s) refused %s since the last such line.", name, f"{limit:,}", count - before)

    def counts(self) -> dict[str, int]:
        """The number of refusals by the name of each quota and deadline, in lower case."""
        with self._lock:
            return {row.name.lower(): self._counts[row.name] for row in (*TABLE, *connection_limits.TABLE)}


REFUSALS = Refusals()
