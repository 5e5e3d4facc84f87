"""The table of chores."""

from webapp.service.domain.accounts import attempts
from webapp.service.worker import chores


def test_attempts_are_failed_before_they_are_deleted() -> None:
    verbs = [chore.verb for chore in chores.all_due()]
    assert verbs.index(attempts.fail_overdue) < verbs.index(attempts.purge)
