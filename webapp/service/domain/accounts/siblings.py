"""Accounts that end together: their provider takes back, with one token, all that a person ever allowed a client.

That is so where the app declares ``revokes = "client"``, for a user's accounts of the same identity whose clients are
one at the provider. Accounts of other users are never named, whoever signed in.
"""

from webapp.errors import NotFound
from webapp.service.domain.accounts import accounts, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users


def of(service: Service, account: Account) -> list[Account]:
    """The other living accounts of its user that end with ``account`` when it is revoked at the provider."""
    app = service.catalog.app(account.app)
    user = external_users.find(service.store, account.scene, account.external_id)
    if app is None or app.oauth is None or app.oauth.revokes == "sign_in" or user is None or not account.identity_id:
        return []
    clients = _same_clients(service, account)
    return [
        other
        for other in accounts.of_user(service.store, user)
        if other.id != account.id
        and not other.dead
        and other.identity_id == account.identity_id
        and other.oauth_app_id in clients
    ]


def _same_clients(service: Service, account: Account) -> set[str]:
    try:
        client = provider_clients.get(service.store, account.oauth_app_id or "")
    except NotFound:
        return set()
    return {other.id for other in provider_clients.sharing(service.store, client)}
