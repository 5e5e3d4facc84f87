"""The credentials of an account, sealed in its row and opened only for use.

They are one JSON object of strings (contract "Credentials"). An OAuth account has ``oauth_access_token``, perhaps
``oauth_refresh_token`` and ``oauth_uid``, and the app's own fields; a key account has the app's fields, and the
``session_token`` that they were exchanged for if the app declares one, which is renewed like an OAuth token.
"""

import json
from collections.abc import Mapping
from typing import Any

from webapp.errors import NotFound
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import SESSION_TOKEN
from webapp.service.domain.accounts import accounts, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.store.contract import Tx

ACCESS_TOKEN = "oauth_access_token"  # noqa: S105 - the name of a field
REFRESH_TOKEN = "oauth_refresh_token"  # noqa: S105 - the name of a field
UID = "oauth_uid"
SEALED = SealedColumn("accounts", "credentials_sealed", version="credentials_key")


def read(service: Service, account: Account) -> dict[str, str]:
    """The credentials of ``account``, opened, and what its client signs with (OAuth 1.0a). They must not leave the
    process but to the account's own provider."""
    values, app = _opened(service, account), accounts.find_app(service, account)
    if app is None or app.oauth is None or app.oauth.request_token_url is None:
        return values
    client = oauth_apps.get(service.store, account.oauth_app_id or "")
    return with_client(service, app, client, values)


def _opened(service: Service, account: Account) -> dict[str, str]:
    if account.credentials_sealed is None:
        raise LookupError("this account was listed without its credentials")
    place = SEALED.place(account.scene.project_id, account.id)
    try:
        opened = json.loads(service.keys.open(place, account.credentials_sealed, account.credentials_key))
    except KeyGone:
        again = accounts.get(service.store, account.scene, account.id)
        if again.credentials_key == account.credentials_key:
            raise
        return _opened(service, again)
    return {str(name): str(value) for name, value in opened.items()}


def with_client(service: Service, app: App, client: OAuthApp, values: Mapping[str, str]) -> dict[str, str]:
    """``values`` with the client by which each request is signed, where the app signs by OAuth 1.0a."""
    if app.oauth is None or app.oauth.request_token_url is None:
        return dict(values)
    secret = oauth_apps.secret(service, client) or ""
    return {**values, "oauth_client_id": client.client_id, "oauth_client_secret": secret}


def seal(service: Service, tx: Tx, project_id: str, account_id: str, values: Mapping[str, str]) -> tuple[bytes, int]:
    """``values`` sealed for the row of ``account_id``, which ``tx`` writes, and the version of the key."""
    plain = json.dumps(dict(values), separators=(",", ":")).encode()
    return service.keys.seal(tx, SEALED.place(project_id, account_id), plain)


def for_developer(service: Service, account: Account) -> dict[str, Any] | None:
    """The ``credentials`` object of the API: None unless the account uses the developer's own OAuth client."""
    if account.oauth_app_id is None:
        return None
    try:
        client = oauth_apps.get(service.store, account.oauth_app_id)
    except NotFound:
        return None
    if not client.developers_own(account.scene.project_id):
        return None
    return {"oauth_client_id": client.client_id, **_opened(service, account)}


def renewable(values: Mapping[str, str]) -> bool:
    """Whether an access can be renewed without its person: with a refresh token, or from the fields."""
    return bool(values.get(REFRESH_TOKEN) or values.get(SESSION_TOKEN))
