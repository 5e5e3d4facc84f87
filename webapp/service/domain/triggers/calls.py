"""Calls of a trigger's component, in its pinned version: one run, or its hooks one after another.

An error of the component or of an account is a failed Reply, never an exception. What a hook stored and logged is kept
before the next one begins, so that whoever undoes an activation, even another process after a crash, finds in
``ctx.db`` what the activation left.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from webapp.errors import Conflict, Invalid, NotFound, PatchbayError, Unavailable
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import Call, Emitted, Method, Reply
from webapp.service.components.declared import definition
from webapp.service.components.declared.form import Push, TriggerForm
from webapp.service.components.declared.webhooks import GONE, HOOK
from webapp.service.components.errors import LoadError
from webapp.service.components.limits import RUN_S
from webapp.service.components.runner import LOST
from webapp.service.domain.accounts import events_secrets, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants, component_calls, prop_values
from webapp.service.domain.components.account_grants import AccountUnusable
from webapp.service.domain.projects import activity
from webapp.service.domain.triggers import (
    deployed_triggers,
    event_listeners,
    runs,
    subscriptions,
    trigger_memory,
    waiting_triggers,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.event_listeners import PieceListener
from webapp.service.domain.triggers.trigger_memory import StateTooLarge

Hook = Literal["deploy", "activate", "deactivate", "renew"]


class HookFailed(Exception):
    """A hook failed."""

    def __init__(self, hook: Hook, reply: Reply, *, repeated: bool = False) -> None:
        super().__init__(hook)
        self.hook, self.reply, self._repeated = hook, reply, repeated

    @property
    def sentence(self) -> str:
        """The reason, as a sentence to show."""
        return self.reply.error.message if self.reply.error else "It failed without a reason."

    @property
    def unusable(self) -> bool:
        """Whether its account could not be used, rather than the app having refused."""
        return self.reply.error is not None and self.reply.error.name == component_calls.UNUSABLE

    @property
    def unknown(self) -> bool:
        """Whether the runner ended during the hook or does not respond.

        Its effects are unknown: the change is recovered later, as after a crash.
        """
        return self.reply.error is not None and self.reply.error.kind == "runner"

    @property
    def uncertain(self) -> bool:
        """Whether the hook may have had effects although it failed.

        It was interrupted, or it failed after an interrupted first attempt.
        """
        return self.unknown or self._repeated

    def to_error(self) -> PatchbayError:
        """The error for the caller."""
        if self.unknown:
            return Unavailable(self.sentence)
        return Invalid(self.sentence)


def call(
    service: Service,
    trigger: DeployedTrigger,
    method: Method,
    *,
    state: Mapping[str, Any],
    event: Any = None,
    configured: Mapping[str, Any] | None = None,
    deadline_s: float = RUN_S,
) -> Reply:
    """Call ``method`` of the trigger's component, with ``configured`` instead of its stored values."""
    started = time.monotonic()
    component = component_of(service, trigger)
    try:
        if component is None:
            raise AccountUnusable(waiting_triggers.removed_reason(service, trigger))
        configured = deployed_triggers.configured(service, trigger) if configured is None else configured
        values = prop_values.checked(trigger.props, configured, whole=True)
        accounts = account_grants.find_accounts(
            service, trigger.scene, trigger.external_id, trigger.props, values.accounts
        )
        endpoint = _endpoint(service, trigger, accounts)
    except (AccountUnusable, Invalid, NotFound) as error:
        return component_calls.failed(service, error.message, round((time.monotonic() - started) * 1000))
    return component_calls.call(
        service,
        Call(
            path=str(component.path),
            key=component.key,
            version=component.version,
            method=method,
            props=values.props,
            labels=values.labels,
            state=state,
            event=event,
            endpoint=endpoint,
            mask=(*prop_values.secrets_in(trigger.props, values.props), *_keys(endpoint)),
            deadline_s=deadline_s,
            user=component_calls.user_key(trigger.scene, trigger.external_id),
        ),
        accounts,
        component.app,
    )


def component_of(service: Service, trigger: DeployedTrigger) -> ComponentInfo | None:
    """The version of the component that ``trigger`` was deployed with; None when it left the catalog."""
    return service.catalog.component(trigger.component_key, trigger.component_version)


def push_of(service: Service, trigger: DeployedTrigger) -> Push | None:
    """How the app of ``trigger``, which polls, notifies it of news; None if it does not."""
    component = component_of(service, trigger) if trigger.polls_when_notified else None
    if component is None or "renew" not in component.hooks:
        return None
    try:
        form = definition.component(component.path).form
    except LoadError:
        return None
    return form.push if isinstance(form, TriggerForm) else None


def _endpoint(service: Service, trigger: DeployedTrigger, chosen: Mapping[str, Account]) -> str | None:
    """The URL for requests of its app: its own, or that of the client of its account, if its app allows only that; or
    the name of the topic to which the app publishes. None if there is none.
    """
    if not _is_notified_at_client(service, trigger):
        return deployed_triggers.endpoint_url(service, trigger)
    account = _notified_account(trigger, chosen)
    notices = service.app(account.app).spec.notices if account is not None else None
    if account is None or account.oauth_app_id is None or notices is None:
        return None
    if notices.topic is not None:
        return events_secrets.of(service, oauth_apps.get(service.store, account.oauth_app_id))
    return events_secrets.address_of(service, account.app, account.oauth_app_id)


def _is_notified_at_client(service: Service, trigger: DeployedTrigger) -> bool:
    if trigger.is_notified_at_client:
        return True
    push = push_of(service, trigger)
    return push is not None and push.at == "client"


def _notified_account(trigger: DeployedTrigger, chosen: Mapping[str, Account]) -> Account | None:
    """The account of the trigger's app, of those that were chosen for it by prop."""
    return next((account for account in chosen.values() if account.app == trigger.app), None)


def run_hooks(
    service: Service, trigger: DeployedTrigger, hooks: Sequence[Hook], configured: Mapping[str, Any]
) -> list[Emitted]:
    """Run those of ``hooks`` that the component has, with the values ``configured``; return what they emitted.

    One that was interrupted with the runner is run once more, since its effects are unknown. To unsubscribe from what
    the provider no longer has (404 or 410) is no failure. Raises :class:`HookFailed` at the first failure.
    """
    component = component_of(service, trigger)
    emitted = list[Emitted]()
    for hook in hooks:
        listens_by_piece = component is not None and component.of_piece
        if hook == "activate" and not listens_by_piece:
            _listen(service, trigger, configured)
        if trigger.emitter != "source" or (component is not None and hook not in component.hooks):
            continue
        reply = run_hook(service, trigger, hook, configured)
        repeated = _was_interrupted(reply)
        if repeated:
            if hook == "activate":
                _remove_leftovers(service, trigger, component, configured)
            reply = run_hook(service, trigger, hook, configured)
        ends_by_itself = component is not None and "renew" in component.hooks
        if ends_by_itself:
            subscriptions.record_hook(service, trigger.id, hook, reply)
        if not reply.ok and not (hook == "deactivate" and (ends_by_itself or _is_gone(reply))):
            raise HookFailed(hook, reply, repeated=repeated)
        if hook == "activate" and listens_by_piece:
            _listen(service, trigger, configured, event_listeners.listeners_of(reply.value))
        emitted += reply.events
    return emitted


def _remove_leftovers(
    service: Service, trigger: DeployedTrigger, component: ComponentInfo | None, configured: Mapping[str, Any]
) -> None:
    """Unsubscribe what an interrupted activation may have left, whose id nobody knows.

    A component returns true if it has removed what its app lists; otherwise the activity says what may be left.
    """
    if component is None or "deactivate" not in component.hooks:
        return
    reply = run_hook(service, trigger, "deactivate", configured)
    is_removed = reply.ok and reply.value is True and not component.of_piece
    if is_removed or "renew" in component.hooks:  # what must be renewed ends by itself
        return
    app = service.catalog.app(trigger.app) if trigger.app else None
    sentence = (
        f"{trigger.name} was interrupted while it subscribed. If {app.name if app else 'its app'} lists two webhooks "
        "with its URL, delete the older one."
    )
    with service.store.write() as tx:
        activity.write(tx, trigger.subject, service.clock(), "trigger_interrupted", sentence, good=False)


def _listen(
    service: Service,
    trigger: DeployedTrigger,
    configured: Mapping[str, Any],
    listeners: Sequence[PieceListener] | None = None,
) -> None:
    """Let ``trigger`` get events at the address of an OAuth client from now on, if it wants them.

    Nothing ends that: a trigger that is off gets none, and one that is being changed gets its previous ones.
    """
    if not trigger.receives_app_events:
        return
    try:
        event_listeners.listen(service, trigger, configured, listeners)
    except (AccountUnusable, Invalid, NotFound) as error:
        raise HookFailed("activate", component_calls.failed(service, error.message)) from error


def run_hook(service: Service, trigger: DeployedTrigger, hook: Hook, configured: Mapping[str, Any]) -> Reply:
    """Run one hook that the component has, with the values ``configured``, and store its result."""
    began_at = service.clock()
    state = trigger_memory.read(service, trigger)
    event = {"timestamp": began_at, "shared": event_listeners.shares_hook(service.store, trigger.id)}
    reply = call(service, trigger, hook, state=state, configured=configured, event=event)
    reply = _store_result(service, trigger, hook, began_at, reply)
    if HOOK in reply.state:
        _listen_to_hook(service, trigger, configured, reply.state[HOOK])
    return reply


def _listen_to_hook(service: Service, trigger: DeployedTrigger, configured: Mapping[str, Any], hook: Any) -> None:
    """Let the subscription ``hook`` notify ``trigger`` at the URL of its account's client, if it uses that."""
    if not _is_notified_at_client(service, trigger):
        return
    values = prop_values.checked(trigger.props, configured, whole=True)
    chosen = account_grants.find_accounts(service, trigger.scene, trigger.external_id, trigger.props, values.accounts)
    account = _notified_account(trigger, chosen)
    with service.store.write() as tx:
        if deployed_triggers.find(tx, trigger.id) is not None:
            event_listeners.listen_to_hook(tx, trigger.id, account.id if account else "", hook if account else None)


def _was_interrupted(reply: Reply) -> bool:
    return reply.error is not None and reply.error.message == LOST


def _is_gone(reply: Reply) -> bool:
    return reply.error is not None and reply.error.status in GONE


def try_hook(
    service: Service, trigger: DeployedTrigger, hook: Hook, configured: Mapping[str, Any]
) -> HookFailed | None:
    """Run one hook whose failure does not matter; return why it failed, if it did."""
    try:
        run_hooks(service, trigger, [hook], configured)
    except HookFailed as failure:
        return failure
    return None


def _store_result(service: Service, trigger: DeployedTrigger, hook: Hook, began_at: int, reply: Reply) -> Reply:
    try:
        _write_result(service, trigger, hook, began_at, reply, remember=True)
    except StateTooLarge as error:
        reply = component_calls.failed(service, str(error), reply.took_ms)
        _write_result(service, trigger, hook, began_at, reply, remember=False)
    return reply


def _write_result(
    service: Service, trigger: DeployedTrigger, hook: Hook, began_at: int, reply: Reply, *, remember: bool
) -> None:
    with service.store.write() as tx:
        if deployed_triggers.find(tx, trigger.id) is None:
            raise Conflict("This trigger was deleted meanwhile.")
        if remember:
            trigger_memory.update(tx, service, trigger, reply.state)
        runs.write(tx, service, trigger, hook, began_at, reply, emitted=len(reply.events))


def _keys(endpoint: str | None) -> list[str]:
    """The secret part of a URL for requests; a topic has none."""
    return [endpoint.rpartition("/")[2]] if endpoint and "://" in endpoint else []
