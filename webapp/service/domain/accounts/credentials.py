"""The credentials of an account: sealed in its row, opened only to be used (contract "Credentials").

They are one JSON object of strings. An OAuth account holds ``oauth_access_token``, perhaps
``oauth_refresh_token`` and ``oauth_uid``, and the app's own fields; a key account holds the app's fields.
"""

import json
from collections.abc import Mapping
from typing import Any

from webapp.errors import NotFound
from webapp.service.domain.accounts import accounts, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.keyring import KeyGone, Place
from webapp.service.domain.base.sealed import SealedColumn
from webapp.service.domain.base.service import Service
from webapp.store.contract import Tx

ACCESS_TOKEN = "oauth_access_token"  # noqa: S105 - the name of a field
REFRESH_TOKEN = "oauth_refresh_token"  # noqa: S105 - the name of a field
UID = "oauth_uid"


def seal(service: Service, tx: Tx, project_id: str, account_id: str, values: Mapping[str, str]) -> tuple[bytes, int]:
    """``values`` sealed for the row of ``account_id``, which ``tx`` writes, and the version of the key."""
    plain = json.dumps(dict(values), separators=(",", ":")).encode()
    return service.keys.seal(tx, _place(project_id, account_id), plain)


def read(service: Service, account: Account) -> dict[str, str]:
    """The credentials of ``account``, opened. They must not leave the process but to the account's own provider."""
    if account.credentials_sealed is None:
        raise LookupError("this account was listed without its credentials")
    place = _place(account.scene.project_id, account.id)
    try:
        opened = json.loads(service.keys.open(place, account.credentials_sealed, account.credentials_key))
    except KeyGone:
        again = accounts.get(service.store, account.scene, account.id)
        if again.credentials_key == account.credentials_key:
            raise
        return read(service, again)
    return {str(name): str(value) for name, value in opened.items()}


def for_developer(service: Service, account: Account) -> dict[str, Any] | None:
    """The ``credentials`` object of the API: None unless the account uses the developer's own OAuth client."""
    if account.oauth_app_id is None:
        return None
    try:
        client = provider_clients.get(service.store, account.oauth_app_id)
    except NotFound:
        return None
    if client.project_id != account.scene.project_id:
        return None
    return {"oauth_client_id": client.client_id, **read(service, account)}


def _place(project_id: str, account_id: str) -> Place:
    return Place(project_id, "accounts", account_id, "credentials")


SEALED = SealedColumn("accounts", "credentials_sealed", version="credentials_key")
