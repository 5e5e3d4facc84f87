"""Deployed triggers as the API shows them (contract "Deployed triggers"), and our extensions.

The values of secret props are never shown: null stands in their place. A signing key that is not shown is "": clients
that check types expect text.
"""

from collections.abc import Sequence
from typing import Any

from webapp.service.domain.base.service import Service
from webapp.service.domain.components import prop_values
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.triggers import accounts as trigger_accounts
from webapp.service.domain.triggers import deployed_triggers, native, schedules
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def to_json(
    service: Service, trigger: DeployedTrigger, *, extensions: bool = False, signing_key: str | None = None
) -> dict[str, Any]:
    """One trigger. ``signing_key`` is that of its webhook, for those who may see it."""
    (shown,) = listed(service, [trigger], extensions=extensions)
    return {**shown, "webhook_signing_key": signing_key or ""}


def listed(service: Service, found: Sequence[DeployedTrigger], *, extensions: bool = False) -> list[dict[str, Any]]:
    """Several, in their order."""
    shown = [_shown(service, one) for one in found]
    if not extensions or not found:
        return shown
    ids = [one.id for one in found]
    accounts, waiting = trigger_accounts.of_triggers(service.store, ids), trigger_accounts.waiting(service.store, ids)
    return [
        {**fields, **_extended(one, accounts[one.id], waits=one.id in waiting), **_to_enter(service, one)}
        for one, fields in zip(found, shown, strict=True)
    ]


def signing_key(service: Service, trigger: DeployedTrigger) -> str | None:
    """The key of the trigger's first webhook; None without one. For OAuth clients alone."""
    webhooks = trigger_webhooks.of_trigger(service.store, trigger.id)
    return endpoints.key_of(service, webhooks[0]) if webhooks else None


def _shown(service: Service, one: DeployedTrigger) -> dict[str, Any]:
    configured, _ = prop_values.without_secrets(one.props, deployed_triggers.configured(service, one))
    return {
        "id": one.id,
        "owner_id": one.external_user_id,
        "component_id": one.component_id,
        "configurable_props": one.props,
        "configured_props": configured,
        "active": one.active,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "name": one.name,
        "name_slug": one.name_slug,
        "type": native.of_emitter(one.emitter).type,
        "component_key": one.component_key,
        "callback_observations": None,
        "emit_on_deploy": one.emit_on_deploy,
        "webhook_signing_key": "",
        **_native(service, one),
    }


def _native(service: Service, one: DeployedTrigger) -> dict[str, Any]:
    """What a native emitter shows besides."""
    if one.emitter == "http":
        key = deployed_triggers.endpoint_key(service, one)
        url = deployed_triggers.endpoint_url(service, one)
        return {"endpoint_url": url, "custom_response": one.custom_response, "key": key}
    if one.emitter == "timer":
        shown = schedules.shown(one.schedule or {"intervalSeconds": None})
        return {**shown, "schedule_changed_at": one.schedule_changed_at}
    if one.emitter == "email":
        return {"email_address": f"{one.email_local}@{service.settings.mail_domain}"}
    return {}


def _to_enter(service: Service, one: DeployedTrigger) -> dict[str, Any]:
    """The address of a source that its person enters at the app by hand: such as Slack, which asks for an answer."""
    if one.emitter != "source" or not one.custom_response:
        return {}
    return {"endpoint_url": deployed_triggers.endpoint_url(service, one)}


def _extended(one: DeployedTrigger, accounts: list[dict[str, str]], *, waits: bool) -> dict[str, Any]:
    return {
        "version": one.component_version,
        "app": one.app,
        "external_user_id": one.external_id,
        "emitter_type": one.emitter,
        "switched_off": one.switched_off,
        "last_event_at": one.last_event_at,
        "last_run_at": one.last_run_at,
        "next_run_at": one.next_run_at,
        "schedule": one.schedule,
        "instant": one.instant,
        "accounts": accounts,
        "waits": trigger_accounts.WAITS if waits and one.active else None,
        "last_error": one.last_error,
    }
