"""A person's own OAuth client, where the link asks for it (``customOauthClient=true``) and the app allows it.

Two fields stand before the app's own. The client serves the accounts of that person alone.
"""

from webapp.kit.translation import gettext
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import CustomField
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.service import Service
from webapp.service.link.visit import Visit

CLIENT_ID, CLIENT_SECRET = "oauth_client_id", "oauth_client_secret"  # names of fields


def is_brought(current: Visit, app: App) -> bool:
    """Whether this visit is to bring a client for ``app``."""
    named = current.parameters.get("customOauthClient", "").lower() in ("true", "1")
    return named and app.oauth is not None and app.oauth.own_clients


def facts(current: Visit, app: App) -> tuple[CustomField, ...]:
    """Everything that a person may be asked for before the connection: their client, then the app's own fields."""
    if not is_brought(current, app) or app.oauth is None:
        return app.spec.fields
    return (
        CustomField(name=CLIENT_ID, label=gettext("Client ID")),
        CustomField(
            name=CLIENT_SECRET,
            label=gettext("Client secret"),
            secret=True,
            optional=app.oauth.token_auth_method == "none",  # noqa: S105
        ),
        *app.spec.fields,
    )


def taken(service: Service, current: Visit, app: App, values: dict[str, str]) -> OAuthApp | None:
    """The client for the connection: the one in ``values``, which is taken out of them and kept, or the link's."""
    client_id, client_secret = values.pop(CLIENT_ID, None), values.pop(CLIENT_SECRET, None)
    user = current.token.user
    if not is_brought(current, app) or client_id is None:
        return oauth_apps.choose(service.store, current.project.id, app.slug, current.oauth_app_id, user_id=user.id)
    return oauth_apps.add(
        service,
        app=app.slug,
        client_id=client_id,
        client_secret=client_secret,
        project_id=current.project.id,
        external_user_id=user.id,
    )
