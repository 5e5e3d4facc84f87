"""An account as the API shows it (specification 2.10). One shape for answers and, later, for notifications."""

from typing import Any

import orjson

from webapp.kit.clock import iso, iso_or_none
from webapp.service.domain.accounts import apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service


def to_json(
    service: Service, account: Account, *, credentials: dict[str, Any] | None = None, extensions: bool = False
) -> dict[str, Any]:
    """``account`` for :func:`orjson.dumps`; its app is embedded as the catalog built it.

    ``credentials`` are added when they are given; ``extensions`` adds what is ours alone.
    """
    found: dict[str, Any] = {
        "id": account.id,
        "name": account.name,
        "external_id": account.external_id,
        "healthy": account.healthy,
        "dead": account.dead,
        "app": _app(service, account),
        "created_at": iso(account.created_at),
        "updated_at": iso(account.updated_at),
        "authorized_scopes": account.authorized_scopes,
        "error": account.error,
        "last_refreshed_at": iso_or_none(account.last_refreshed_at),
        "next_refresh_at": iso_or_none(account.next_refresh_at),
    }
    if account.expires_at is not None:  # a string where it stands, so it is left out where there is none
        found["expires_at"] = iso(account.expires_at)
    if credentials is not None:
        found["credentials"] = credentials
    if extensions:
        identity = {"id": account.identity_id, "name": account.identity_name}
        found["identity"] = identity if account.identity_id or account.identity_name else None
        found["last_checked_at"] = iso_or_none(account.last_checked_at)
        found["next_check_at"] = iso_or_none(account.next_check_at)
        found["oauth_app_id"] = account.oauth_app_id
        found["scope_profile"] = account.scope_profile
    return found


def _app(service: Service, account: Account) -> orjson.Fragment:
    """The app's JSON; an app that left the catalog is still named."""
    slug = account.app
    drawn = service.catalog.embedded(slug, account.oauth_app_id)
    return drawn or orjson.Fragment(orjson.dumps(apps.facts(service, slug)))
