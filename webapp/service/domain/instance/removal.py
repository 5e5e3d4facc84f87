"""Removes connected accounts, an external user or a project, with all that belongs to them (contract "Lifetimes").

Tokens end first, so that nothing new is created; then triggers unsubscribe at their providers, outside any transaction;
then the rows are deleted in one. A provider that does not respond does not prevent a removal.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress

from webapp import audit
from webapp.errors import Conflict, NotFound, PatchbayError
from webapp.people import setup_requests
from webapp.service.domain.access import api_calls, connect_tokens
from webapp.service.domain.accounts import account_state, accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props, file_stash, runs
from webapp.service.domain.projects import activity, external_users, projects
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Project, Scene
from webapp.service.domain.triggers import (
    calls,
    deployed_triggers,
    deployments,
    lifecycle,
    pending_changes,
    trigger_accounts,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

ROUNDS = 3  # a deployment that was under way when the tokens ended may still add a trigger


def user(service: Service, gone: ExternalUser) -> None:
    """Remove ``gone``: tokens, triggers (their hooks run), accounts, runs, files and the activity that names them."""
    with service.store.write() as tx:
        connect_tokens.revoke_all(tx, user=gone)
    for _ in range(ROUNDS):
        triggers = deployed_triggers.of_user(service.store, gone)
        if not triggers:
            break
        _undeploy(service, triggers)
    with service.store.write() as tx:
        connect_tokens.revoke_all(tx, user=gone)
        dynamic_props.drop_user(tx, gone.scene, gone.external_id)
        runs.drop_user(tx, gone.scene, gone.external_id)
        api_calls.drop_user(tx, gone.scene, gone.external_id)
        file_stash.drop_user(tx, gone.scene, gone.external_id)
        lifecycle.erase_of_user(tx, gone)
        account_state.remove(tx, accounts.of_user(tx, gone), service.clock())
        activity.drop_user(tx, gone.id)
        if external_users.erase(tx, gone):
            sentence = "Removed an external user with all that was theirs."
            audit.write(tx, service.clock(), "user", gone.id, "deleted", sentence, **gone.scene.params)


def project(service: Service, gone: Project) -> None:
    """Remove ``gone`` with both of its environments.

    Raises :class:`Conflict` unless it may be (:func:`projects.check_removable`).
    """
    projects.check_removable(service, gone)
    with service.store.write() as tx:
        connect_tokens.revoke_all(tx, project_id=gone.id)
    for _ in range(ROUNDS):
        triggers = deployed_triggers.of_project(service.store, gone.id)
        if not triggers:
            break
        _undeploy(service, triggers)
    with service.store.write() as tx:
        lifecycle.erase_of_project(tx, gone.id)
        setup_requests.forget(tx, gone.id)
        projects.erase(service, tx, gone.id)


def _undeploy(service: Service, triggers: Iterable[DeployedTrigger]) -> None:
    """Let each trigger unsubscribe; one that is removed meanwhile is skipped."""
    for trigger in triggers:
        with suppress(NotFound, Conflict):
            deployments.delete(service, trigger, ignore_hook_errors=True)


def delete(service: Service, account: Account) -> None:
    """Remove ``account`` with its credentials; its history stays."""
    _remove(service, [account])


def delete_of_app(service: Service, scene: Scene, app: str, *, user: ExternalUser | None) -> int:
    """Remove all accounts of ``app`` in ``scene`` (of ``user`` if given); return their number."""
    removed = accounts.of_app(service.store, scene, app, user=user)
    _remove(service, removed)
    return len(removed)


def _remove(service: Service, removed: Sequence[Account]) -> None:
    """Remove the triggers and accounts.

    The triggers are held until the accounts are deleted, so that none is subscribed again.
    """
    with ExitStack() as held:
        for account in removed:
            _unsubscribe(service, account, held)
        with service.store.write() as tx:
            for account in removed:
                trigger_accounts.switch_off_for_account(tx, service, account)
            account_state.remove(tx, removed, service.clock())
    service.wake()


def _unsubscribe(service: Service, account: Account, held: ExitStack) -> None:
    """Let the triggers of ``account`` say goodbye while its credentials are still there."""
    for trigger in trigger_accounts.active_of_account(service.store, account.id):
        try:
            current = held.enter_context(lifecycle.locked(service, trigger))
            if current.active:
                configured = deployed_triggers.configured(service, current)
                pending_changes.begin(service, current, "farewell")
                calls.try_hook(service, current, "deactivate", configured)
        except PatchbayError:
            continue
