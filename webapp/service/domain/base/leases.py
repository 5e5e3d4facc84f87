"""How long a worker may hold what it claimed, in milliseconds.

A claim writes the end of its lease into the row, and nobody else claims the row before then. It is longer than the work
may take, so what is due again after it belonged to a worker that died or hung; its late result is not written. When a
dead process is noticed sooner, its claims are released at once (:mod:`webapp.service.domain.instance.takeover`). On one
machine, the worker is the process that holds the worker's lock (:mod:`webapp.store.lock_files`).
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
