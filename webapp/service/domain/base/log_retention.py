"""How long the entries of the logs are kept, for which there is no setting: calls of the API, runs of actions and
triggers, and what agents asked.

Each table is purged by the module that owns it, called by :mod:`webapp.service.worker.chores`. There it is decided,
too, how many of the newest stay: ``access.api_calls``, ``components.runs``, ``triggers.runs``. Events are kept for
``PATCHBAY_EVENT_DAYS`` (:mod:`webapp.service.domain.instance.event_retention`).
"""

from webapp.kit.clock import DAY

KEPT = 30 * DAY
