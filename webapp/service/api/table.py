"""Every operation of the API, in one table (WIRE "Who may call what")."""

from webapp.service.api.access import general_webhooks, me, oauth_tokens, rate_limits, tokens
from webapp.service.api.accounts import accounts, activity, app_categories, app_overrides, apps, care, oauth_apps
from webapp.service.api.base.operations import Operation
from webapp.service.api.components import calls, components, file_stash, proxy, runs
from webapp.service.api.projects import audit, projects, usage, users, webhook, writes
from webapp.service.api.triggers import deliveries, deployed_triggers, events, webhooks

OPERATIONS: tuple[Operation, ...] = (
    *oauth_tokens.OPERATIONS,
    *tokens.OPERATIONS,
    *apps.OPERATIONS,
    *app_categories.OPERATIONS,
    *projects.OPERATIONS,
    *writes.OPERATIONS,
    *users.OPERATIONS,
    *oauth_apps.OPERATIONS,
    *app_overrides.OPERATIONS,
    *usage.OPERATIONS,
    *accounts.OPERATIONS,
    *care.OPERATIONS,
    *activity.OPERATIONS,
    *audit.OPERATIONS,
    *components.OPERATIONS,
    *calls.OPERATIONS,
    *runs.OPERATIONS,
    *deployed_triggers.OPERATIONS,
    *file_stash.OPERATIONS,
    *me.OPERATIONS,
    *rate_limits.OPERATIONS,
    *proxy.OPERATIONS,
    *webhooks.OPERATIONS,
    *webhook.OPERATIONS,
    *events.OPERATIONS,
    *deliveries.OPERATIONS,
    *general_webhooks.OPERATIONS,
)
