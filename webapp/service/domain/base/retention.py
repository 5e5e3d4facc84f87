"""How long the logs of calls and runs and the counts of usage are kept, for which there is no setting (events have
``PATCHBAY_EVENT_DAYS``).

Each table is purged by the module that owns it, called by :mod:`webapp.service.worker.chores`.
"""

from webapp.kit.clock import DAY

LOGS = 30 * DAY
"""Calls of the API, runs of actions and triggers, and what agents asked."""
USAGE = 400 * DAY
"""The counts of what a project and its apps used, so that a month can be compared with the same one a year before."""
