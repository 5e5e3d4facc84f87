"""How long a process, mostly the worker, may hold what it claimed, in milliseconds.

A claim writes the end of its lease into the row, and nobody else claims the row before then. A lease is longer than the
work may take, so what is due again after it belonged to a process that died or hung. Whether its late result still
counts is decided where results are stored. When a dead process is noticed sooner, its claims are released at once
(:mod:`webapp.service.domain.instance.takeover`), but for :data:`RENEWAL` and :data:`RECONNECT_MAIL`, which run out. On
one machine, the worker is the process that holds the worker's lock (:mod:`webapp.store.lock_files`).
"""

from webapp.kit.clock import MINUTE, SECOND

DELIVERY = 40 * SECOND
"""An attempt of a delivery: twice the request's deadline."""
REFRESH = 40 * SECOND
"""A refresh of an account's token: longer than its deadline."""
CHECK = 10 * MINUTE
"""A check of an account."""
RUN = 2 * MINUTE
"""A run of a deployed trigger that is due: longer than a run may take."""
RENEWAL = 2 * MINUTE
"""A renewal of a trigger's subscription at its provider: longer than it may take."""
RECEIVED = 2 * MINUTE
"""A received request, while its trigger runs with it."""
CHANGE = 5 * MINUTE
"""A change of a deployed trigger, while its hooks run; no run of it is claimed meanwhile."""
RECONNECT_MAIL = 5 * MINUTE
"""A mail that asks a person to reconnect accounts: longer than the deadline of sending it."""
