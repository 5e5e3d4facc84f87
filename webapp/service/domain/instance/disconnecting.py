"""Removing connected accounts, and what that stops: their triggers are unsubscribed, then switched off with the reason.

A provider that does not answer keeps no account alive.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from webapp.errors import PatchbayError
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts import lifecycle as account_lifecycle
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import accounts as trigger_accounts
from webapp.service.domain.triggers import calls, deployed_triggers, lifecycle, plans


def delete(service: Service, account: Account) -> None:
    """Remove ``account`` with its credentials; its history stays."""
    _remove(service, [account])


def delete_of_app(service: Service, scene: Scene, app: str, *, user: ExternalUser | None) -> int:
    """Remove every account of ``app`` in ``scene`` (of ``user`` when one is given); how many there were."""
    removed = accounts.of_app(service.store, scene, app, user=user)
    _remove(service, removed)
    return len(removed)


def _remove(service: Service, removed: Sequence[Account]) -> None:
    """The triggers are held until the accounts are gone, so that nobody subscribes them again in between."""
    with ExitStack() as held:
        for account in removed:
            _unsubscribe(service, account, held)
        with service.store.write() as tx:
            for account in removed:
                trigger_accounts.account_removed(tx, service, account)
            account_lifecycle.remove(tx, removed, service.clock())
    service.wake()


def _unsubscribe(service: Service, account: Account, held: ExitStack) -> None:
    """Let the triggers of ``account`` say goodbye while its credentials are still there."""
    for trigger in trigger_accounts.using(service.store, account.id):
        try:
            current = held.enter_context(lifecycle.locked(service, trigger))
            if current.active:
                configured = deployed_triggers.configured(service, current)
                plans.begin(service, current, "farewell")
                calls.try_hook(service, current, "deactivate", configured)
        except PatchbayError:
            continue
