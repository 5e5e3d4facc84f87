"""Every operation of the API, gathered from the modules of the nouns (contract "Who may call what").

A new operation stands in the module of its noun; only a new module needs a line here. The reference shows groups and
operations in this order.
"""

from webapp.service.api.access import (
    embedding,
    general_webhooks,
    invitations,
    logins,
    me,
    oauth_clients,
    oauth_tokens,
    rate_limits,
    tokens,
)
from webapp.service.api.accounts import (
    accounts,
    activity,
    app_categories,
    app_overrides,
    apps,
    care,
    client_care,
    connect,
    imported_apps,
    link_sessions,
    oauth_apps,
    pieces,
)
from webapp.service.api.agents import agents, approvals
from webapp.service.api.base.operations import Operation
from webapp.service.api.components import calls, components, file_stash, proxy, runs
from webapp.service.api.projects import audit, limits, projects, usage, users, webhook, workflows, writes
from webapp.service.api.triggers import deliveries, deploy, deployed_triggers, events, overviews, webhooks

MODULES = (
    oauth_tokens,
    tokens,
    apps,
    app_categories,
    projects,
    writes,
    users,
    oauth_apps,
    client_care,
    app_overrides,
    usage,
    limits,
    accounts,
    connect,
    link_sessions,
    care,
    activity,
    audit,
    components,
    calls,
    runs,
    agents,
    approvals,
    deploy,
    deployed_triggers,
    file_stash,
    me,
    rate_limits,
    proxy,
    webhooks,
    webhook,
    workflows,
    events,
    deliveries,
    overviews,
    general_webhooks,
    embedding,
    logins,
    invitations,
    oauth_clients,
    imported_apps,
    pieces,
)
OPERATIONS: tuple[Operation, ...] = tuple(operation for module in MODULES for operation in module.operations)
