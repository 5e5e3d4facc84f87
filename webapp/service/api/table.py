"""Every operation of the API, in one table (WIRE "Who may call what")."""

from webapp.service.api import (
    account_care,
    accounts,
    activity,
    app_categories,
    apps,
    component_calls,
    components,
    oauth_tokens,
    projects,
    runs,
    tokens,
)
from webapp.service.api.operations import Operation

OPERATIONS: tuple[Operation, ...] = (
    *oauth_tokens.OPERATIONS,
    *tokens.OPERATIONS,
    *apps.OPERATIONS,
    *app_categories.OPERATIONS,
    *projects.OPERATIONS,
    *accounts.OPERATIONS,
    *account_care.OPERATIONS,
    *activity.OPERATIONS,
    *components.OPERATIONS,
    *component_calls.OPERATIONS,
    *runs.OPERATIONS,
)
