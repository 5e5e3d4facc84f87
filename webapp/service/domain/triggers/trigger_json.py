"""The JSON of deployed triggers in the API (contract "Deployed triggers"), with our extensions.

The values of secret props are never shown, but null instead. A signing key that may not be shown, or does not exist, is
absent.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from webapp.service.components.pieces import texts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import prop_values
from webapp.service.domain.triggers import (
    calls,
    configuration,
    deployed_triggers,
    schedules,
    subscriptions,
    trigger_accounts,
    waiting_triggers,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.subscriptions import Subscription

NO_KEYS: Mapping[str, str] = MappingProxyType({})


def to_json(
    service: Service, trigger: DeployedTrigger, *, extensions: bool = False, keys: Mapping[str, str] = NO_KEYS
) -> dict[str, Any]:
    """One trigger."""
    (shown,) = list_to_json(service, [trigger], extensions=extensions, keys=keys)
    return shown


def list_to_json(
    service: Service,
    triggers: Sequence[DeployedTrigger],
    *,
    extensions: bool = False,
    keys: Mapping[str, str] = NO_KEYS,
) -> list[dict[str, Any]]:
    """The JSON of several triggers. ``keys`` are signing keys by the trigger's id, for callers who may see them."""
    shown = [_contract_fields(service, trigger, keys.get(trigger.id)) for trigger in triggers]
    if not extensions or not triggers:
        return shown
    ids = [trigger.id for trigger in triggers]
    accounts, waiting = (
        trigger_accounts.of_triggers(service.store, ids),
        waiting_triggers.reasons(service, triggers),
    )
    pushed = subscriptions.of_polling(service.store, triggers)
    return [
        {
            **fields,
            **_extension_fields(trigger, accounts[trigger.id], waiting.get(trigger.id)),
            **_version_fields(service, trigger),
            **_notification_state(trigger, pushed.get(trigger.id), service.clock()),
            **_manual_endpoint_field(service, trigger),
        }
        for trigger, fields in zip(triggers, shown, strict=True)
    ]


def _contract_fields(service: Service, trigger: DeployedTrigger, signing_key: str | None) -> dict[str, Any]:
    configured, _ = prop_values.without_secrets(trigger.props, deployed_triggers.configured(service, trigger))
    return {
        "id": trigger.id,
        "owner_id": trigger.external_user_id,
        "component_id": trigger.component_id,
        "configurable_props": trigger.props,
        "configured_props": configured,
        "active": trigger.active,
        "created_at": trigger.created_at,
        "updated_at": trigger.updated_at,
        "name": trigger.name,
        "name_slug": trigger.name_slug,
        "type": configuration.kind_of_emitter(trigger.emitter).type,
        "component_key": trigger.component_key,
        "callback_observations": None,
        "emit_on_deploy": trigger.emit_on_deploy,
        **({"webhook_signing_key": signing_key} if signing_key else {}),
        **_native_fields(service, trigger),
    }


def _native_fields(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """The additional fields of a native emitter."""
    if trigger.emitter == "http":
        key = deployed_triggers.endpoint_key(service, trigger)
        url = deployed_triggers.endpoint_url(service, trigger)
        return {"endpoint_url": url, "custom_response": trigger.custom_response, "key": key}
    if trigger.emitter == "timer":
        shown = schedules.to_json(trigger.schedule or {"intervalSeconds": None})
        return {**shown, "schedule_changed_at": trigger.schedule_changed_at}
    if trigger.emitter == "email":
        return {"email_address": f"{trigger.email_local}@{service.settings.mail_domain}"}
    return {}


def _manual_endpoint_field(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """The address of a source that its person enters at the app by hand."""
    if trigger.emitter != "source" or not _needs_manual_endpoint(service, trigger):
        return {}
    return {"endpoint_url": deployed_triggers.endpoint_url(service, trigger)}


def _needs_manual_endpoint(service: Service, trigger: DeployedTrigger) -> bool:
    """Whether a person must enter its address at the app: its text says so, as in pieces, or its code answers the
    app's verification and does not subscribe by itself, as Slack's.
    """
    if any(texts.ENDPOINT_WORDS in prop.get("content", "") for prop in trigger.props):
        return True
    if not trigger.custom_response:
        return False
    component = calls.component_of(service, trigger)
    return component is None or component.of_python or "activate" not in component.hooks


def _notification_state(trigger: DeployedTrigger, subscription: Subscription | None, now: int) -> dict[str, Any]:
    """Whether its app notifies it of news, and why not."""
    if subscription is None or not trigger.active:
        return {"notified": False, "notification_error": None}
    is_subscribed = subscription.is_active(now)
    return {"notified": is_subscribed, "notification_error": None if is_subscribed else subscription.error}


def _version_fields(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """The version that it was deployed with, whether that is here, and a later one where there is one."""
    own, newest = calls.component_of(service, trigger), service.catalog.component(trigger.component_key)
    is_later = newest is not None and (own is None or newest.release > own.release)
    return {
        "version": trigger.component_version,
        "available": own is not None,
        "newest_version": newest.version if newest is not None and is_later else None,
    }


def _extension_fields(trigger: DeployedTrigger, accounts: list[dict[str, str]], waits: str | None) -> dict[str, Any]:
    return {
        "app": trigger.app,
        "external_user_id": trigger.external_id,
        "emitter_type": trigger.emitter,
        "switched_off": trigger.switched_off,
        "last_event_at": trigger.last_event_at,
        "last_run_at": trigger.last_run_at,
        "next_run_at": trigger.next_run_at,
        "schedule": trigger.schedule,
        "instant": trigger.instant,
        "accounts": accounts,
        "waits": waits if trigger.active else None,
        "last_error": trigger.last_error,
    }
