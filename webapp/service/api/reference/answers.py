"""What each operation answers when it succeeds, and which errors it has beyond those that all have.

A new operation needs a line here; a test fails until it has one.
"""

from collections.abc import Mapping
from typing import Any

from webapp.service.api.accounts import app_models
from webapp.service.api.accounts import models as accounts
from webapp.service.api.base.models import Data, Empty, Page, Raw
from webapp.service.api.components import models as components
from webapp.service.api.projects import models as workspace
from webapp.service.api.triggers import models as triggers

_NOUNS = {"component": "components", "action": "actions", "trigger": "triggers"}

RESPONSES: Mapping[str, Any] = {
    "create_access_token": workspace.AccessToken,
    "create_token": workspace.ConnectToken,
    "validate_token": workspace.Validity,
    "list_apps": Page[app_models.ListedApp],
    "get_app": Data[app_models.OneApp],
    "list_app_categories": list[app_models.Category],
    "get_app_category": app_models.Category,
    "list_projects": Page[workspace.Project],
    "get_project": workspace.Project,
    "get_project_info": app_models.ProjectInfo,
    "create_project": workspace.Project,
    "update_project": workspace.Project,
    "delete_project": Empty(),
    "set_project_logo": workspace.Project,
    "get_project_logo": Raw("The image.", "image/*"),
    "list_users": Page[workspace.ExternalUser],
    "delete_user": Empty(),
    "list_oauth_apps": Page[app_models.OAuthApp],
    "create_oauth_app": app_models.OAuthApp,
    "get_oauth_app": app_models.OAuthApp,
    "update_oauth_app": app_models.OAuthApp,
    "delete_oauth_app": Empty(),
    "list_app_overrides": Page[app_models.AppOverride],
    "create_app_override": app_models.AppOverride,
    "get_app_override": app_models.AppOverride,
    "update_app_override": app_models.AppOverride,
    "delete_app_override": Empty(),
    "list_usage": workspace.Usage,
    "list_accounts": Page[accounts.ExtendedAccount],
    "create_account": accounts.Account,
    "get_account": accounts.ExtendedAccount,
    "delete_account": Empty(),
    "delete_accounts_of_app": Empty(),
    "list_accounts_of_user": list[accounts.ExtendedAccount],
    "rename_account": accounts.ExtendedAccount,
    "test_account": accounts.ExtendedAccount,
    "revoke_account": accounts.ExtendedAccount,
    "list_account_uses": Page[accounts.Use],
    "list_account_history": Page[accounts.Entry],
    "list_activity": Page[accounts.Entry],
    "list_audit": Page[workspace.Deed],
    **{f"list_{many}": Page[components.Component] for many in _NOUNS.values()},
    **{f"get_{one}": Data[components.Component] for one in _NOUNS},
    **{f"configure_{one}": components.Options for one in _NOUNS},
    **{f"reload_{one}_props": components.Reloaded for one in _NOUNS},
    "run_action": components.Outcome,
    "run_component": components.Outcome,
    "list_runs": Page[components.Run],
    "get_run": Data[components.RunDetails],
    "deploy_trigger": Data[triggers.DeployedTrigger],
    "list_deployed_triggers": Page[triggers.DeployedTrigger],
    "get_deployed_trigger": Data[triggers.DeployedTrigger],
    "update_deployed_trigger": Data[triggers.DeployedTrigger],
    "delete_deployed_trigger": Empty(),
    "list_trigger_logs": Page[triggers.LogEntry],
    "send_test_event": Data[triggers.Event],
    "list_trigger_events": triggers.Events,
    "list_webhooks": triggers.Webhooks,
    "set_webhooks": triggers.Webhooks,
    "get_webhook": Data[triggers.OneWebhook],
    "regenerate_signing_key": Data[triggers.OneWebhook],
    "reset_delivery_state": Data[triggers.OneWebhook],
    "list_pipelines": triggers.Pipelines,
    "set_pipelines": triggers.Pipelines,
    "list_deliveries": Page[triggers.Delivery],
    "get_delivery": Data[triggers.DeliveryDetails],
    "resend_delivery": Data[triggers.Delivery],
    "resend_deliveries": triggers.Count,
    "get_trigger_stats": Data[triggers.Stats],
    "get_project_webhook": Data[triggers.ProjectWebhook | None],
    "set_project_webhook": Data[triggers.ProjectWebhook],
    "delete_project_webhook": Empty(),
    "regenerate_project_key": Data[triggers.ProjectWebhook],
    "create_webhook": Data[triggers.GeneralWebhook],
    "get_current_user": Data[workspace.Me],
    "create_rate_limit": workspace.LimitToken,
    "download_file": Raw("The file."),
    "follow_file_link": Raw("The file."),
    **{
        f"proxy_{method}": Raw("What the app answered, with its status.")
        for method in ("get", "post", "put", "patch", "delete")
    },
}

_PROVIDER = (502, 504)
ERRORS: Mapping[str, tuple[int, ...]] = {
    "create_account": _PROVIDER,
    "get_account": _PROVIDER,
    "test_account": _PROVIDER,
    "revoke_account": _PROVIDER,
    "deploy_trigger": _PROVIDER,
    "update_deployed_trigger": _PROVIDER,
    "delete_deployed_trigger": _PROVIDER,
    **{f"proxy_{method}": _PROVIDER for method in ("get", "post", "put", "patch", "delete")},
}
EXTENSIONS = frozenset(
    {
        "rename_account", "test_account", "revoke_account", "list_account_uses", "list_account_history",
        "list_activity", "list_runs", "get_run", "list_deliveries", "get_delivery", "resend_delivery",
        "resend_deliveries", "list_trigger_logs", "get_trigger_stats", "send_test_event", "follow_file_link",
        "get_project_logo", "list_audit",
    }
)  # fmt: skip
