"""Requests by which an app says that there is something new: what they ask for, if they bear the secret of the push.

Nothing in them is believed beyond that. What is new is asked of the app itself.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.service.components.declared.filling import EMPTY, fill
from webapp.service.components.declared.filters import as_text
from webapp.service.components.declared.templates import Scope, parse
from webapp.service.components.declared.trigger_form import Push


@dataclass(frozen=True, slots=True)
class Notification:
    """What a request asks for: ``look`` for what is new, ``renew`` the subscription."""

    look: bool
    renew: bool


def challenge_answer(push: Push, event: Mapping[str, Any]) -> str | None:
    """What ``event`` is answered where the app asks by it whether the address is ours; else None."""
    scope = {"$event": event}
    if push.challenge is None or not _holds(push.challenge.only_if, scope):
        return None
    return as_text(fill(push.challenge.answer, scope))


def read(push: Push, secret: str, event: Mapping[str, Any]) -> Notification | None:
    """What ``event``, a request as it came, asks for; None where nothing in it bears ``secret``."""
    scopes: list[Scope] = [{"$event": event}]
    if push.items:
        items = parse(push.items).value(scopes[0])
        scopes = [{"$event": event, "$item": item} for item in (items if isinstance(items, list) else [])]
    genuine = [scope for scope in scopes if _is_secret(parse(push.token).value(scope), secret)]
    if not genuine:
        return None
    counted = [scope for scope in genuine if not _holds(push.ignore_if, scope)]
    return Notification(bool(counted), any(_holds(push.renew_if, scope) for scope in counted))


def _is_secret(token: Any, secret: str) -> bool:
    return isinstance(token, str) and hmac.compare_digest(token.encode(errors="replace"), secret.encode())


def _holds(condition: str, scope: Scope) -> bool:
    return bool(condition) and parse(condition).value(scope) not in (*EMPTY, False)
