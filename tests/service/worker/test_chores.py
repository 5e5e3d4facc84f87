"""The table of chores: their order, and that nothing which is to be purged is forgotten."""

import importlib
import inspect
import pkgutil

from webapp.service import domain
from webapp.service.domain.accounts import attempts
from webapp.service.worker import chores


def test_attempts_are_failed_before_they_are_deleted() -> None:
    verbs = [chore.verb for chore in chores.all_due()]
    assert verbs.index(attempts.fail_overdue) < verbs.index(attempts.purge)


def test_whatever_the_domain_purges_by_itself_is_a_chore() -> None:
    """A function ``purge…`` that takes a service only; others are called in the transaction of one of these."""
    names = [module.name for module in pkgutil.walk_packages(domain.__path__, f"{domain.__name__}.")]
    purges = {
        verb: f"{module}.{name}"
        for module in names
        for name, verb in inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        if name.startswith("purge") and list(inspect.signature(verb).parameters) == ["service"]
    }
    assert attempts.purge in purges
    due = {chore.verb for chore in chores.all_due()}
    assert [name for verb, name in purges.items() if verb not in due] == [], "webapp/service/worker/chores.py lacks it"
