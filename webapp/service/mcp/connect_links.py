"""The Connect Link that an agent shows to a person whose account is missing or has stopped working.

Its token can only connect accounts, since all readers of the conversation can read the link.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from webapp.kit.clock import MINUTE, SECOND
from webapp.kit.crypto import hash_token
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts, connections
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.rate_limits import LIMITS, key_of
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_calls
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.mcp.arguments import Unconnected
from webapp.service.mcp.authentication import Visitor

LIFETIME_S = 30 * MINUTE // SECOND


@dataclass(frozen=True, slots=True)
class Link:
    """The address at which the person connects the account; ``sentence`` says which and why."""

    url: str
    sentence: str

    @property
    def text(self) -> str:
        """The text for the person."""
        return f"{self.sentence} Give the person this link, and try again once they have connected it: {self.url}"


def link(service: Service, visitor: Visitor, missing: Unconnected) -> Link | str:
    """The link for the account that is missing, or in a sentence why it cannot be connected.

    Raises :class:`webapp.errors.Throttled`.
    """
    app, connect, scene = service.app(missing.app), visitor.caller.connect, visitor.scene
    user = visitor.user(service)
    if reason := connections.unavailable_reason(service, app, scene.project_id, user_id=user.id if user else None):
        return reason
    key = key_of("tokens", scene.project_id, scene.environment)
    service.limits.hit(LIMITS["tokens"], f"{key}|{hash_token(visitor.external_id)}")
    request = TokenRequest(visitor.external_id, expires_in=LIFETIME_S, scope=token_scopes.ACCOUNTS_WRITE, app=app.slug)
    client_id = connect.client_id if connect else visitor.caller.client_id
    token = connect_tokens.create(service, scene, request, client_id=client_id)
    named = {"app": app.slug, **({"accountId": missing.dead.id} if missing.dead else {})}
    sentence = f"The {app.name} account works no longer." if missing.dead else f"No {app.name} account is connected."
    if missing.action:
        named |= {"action": missing.action}
        sentence = f"The {app.name} account was not given all that {missing.action} needs; it can be added."
    return Link(f"{token['connect_link_url']}&{urlencode(named)}", sentence)


def after_refusal(
    service: Service, visitor: Visitor, request: ComponentRequest, outcome: Mapping[str, Any]
) -> str | None:
    """The advice about a run that failed because its account has stopped working, or lacks OAuth scopes; None for
    other failures.

    The run is not repeated automatically: it may have had effects before its provider refused it.
    """
    errors = [line["err"] for line in outcome["os"] if line.get("err")]
    user = visitor.user(service)
    if user is None or not errors:
        return None
    lacks, action = errors[-1].get("account_id"), request.component.key
    if not lacks and errors[-1]["name"] != component_calls.UNUSABLE:
        return None
    chosen = [value["authProvisionId"] for value in request.configured.values() if _is_account(value)]
    for account in accounts.of_user(service.store, user):
        if account.id in chosen and (account.id == lacks or account.dead):
            again = link(service, visitor, Unconnected(account.app, account, action if account.id == lacks else ""))
            return f"{errors[-1]['message']} {again if isinstance(again, str) else again.text}"
    return None


def _is_account(value: Any) -> bool:
    return isinstance(value, dict) and "authProvisionId" in value
