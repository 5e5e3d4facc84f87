"""The chores of the worker: what it does periodically, mostly deleting old rows."""

from collections.abc import Callable
from dataclasses import dataclass

from webapp.kit.clock import MINUTE, SECOND
from webapp.service.domain.access import (
    access_tokens,
    api_calls,
    connect_tokens,
    link_sessions,
    oauth_clients,
    refused_calls,
    refused_origins,
)
from webapp.service.domain.accounts import attempts, oauth_apps
from webapp.service.domain.agents import approvals, request_signals, sessions
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props, file_stash, runs
from webapp.service.domain.instance import event_retention, reconnect_links
from webapp.service.domain.projects import app_usage, usage
from webapp.service.domain.triggers import app_events, dedupe, event_listeners, subscriptions
from webapp.service.domain.triggers import runs as trigger_runs


@dataclass(slots=True)
class Chore:
    """A function that is called every ``every`` milliseconds."""

    name: str
    every: int
    verb: Callable[[Service], object]
    due: int = 0


def all_due() -> list[Chore]:
    """All chores, due now."""
    return [
        Chore("end tokens", MINUTE, connect_tokens.expire),
        Chore("purge tokens", 10 * MINUTE, connect_tokens.purge),
        Chore("purge access tokens", 60 * MINUTE, access_tokens.purge),
        Chore("forget old secrets", 60 * MINUTE, oauth_clients.forget_old_secrets),
        Chore("purge refused origins", 24 * 60 * MINUTE, refused_origins.purge),
        Chore("purge calls of the API", 10 * MINUTE, api_calls.purge),
        Chore("purge refused calls", 10 * MINUTE, refused_calls.purge),
        Chore("fail overdue attempts", 15 * SECOND, attempts.fail_overdue),
        Chore("purge attempts", 10 * MINUTE, attempts.purge),
        Chore("purge OAuth apps of users", 60 * MINUTE, oauth_apps.purge),
        Chore("purge link sessions", 10 * MINUTE, link_sessions.purge),
        Chore("purge links of reconnect mails", 60 * MINUTE, reconnect_links.purge),
        Chore("purge runs", 10 * MINUTE, runs.purge),
        Chore("purge trigger runs", 10 * MINUTE, trigger_runs.purge),
        Chore("purge ids of emitted events", 60 * MINUTE, dedupe.purge),
        Chore("purge subscriptions", 60 * MINUTE, subscriptions.purge),
        Chore("purge events of apps", 60 * MINUTE, app_events.purge),
        Chore("renew event listeners", 10 * MINUTE, event_listeners.renew),
        Chore("purge dynamic props", 60 * MINUTE, dynamic_props.purge),
        Chore("purge files", 10 * MINUTE, file_stash.purge),
        Chore("purge events", 10 * MINUTE, event_retention.purge),
        Chore("purge agents", 60 * MINUTE, sessions.purge),
        Chore("purge sign-ins of agents", 10 * MINUTE, sessions.purge_grants),
        Chore("purge calls of agents", 60 * MINUTE, approvals.purge),
        Chore("purge tokens of agents", 60 * MINUTE, sessions.purge_bearers),
        Chore("purge signals of agents", 10 * MINUTE, request_signals.purge),
        Chore("purge usage", 24 * 60 * MINUTE, usage.purge),
        Chore("purge usage of apps", 24 * 60 * MINUTE, app_usage.purge),
    ]
