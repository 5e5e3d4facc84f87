"""A tool's arguments as a request of its action, with the account that it works with."""

from collections.abc import Mapping
from typing import Any

import orjson

from webapp.errors import Invalid
from webapp.service.catalog.components import ComponentInfo
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash, prop_values, requests
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.mcp import account_choice
from webapp.service.mcp.schemas import DYNAMIC_PROPS_ID
from webapp.service.mcp.visitors import Visitor

Arguments = Mapping[str, Any]


class Unconnected(Exception):
    """No account of the app ``app`` is connected; ``dead`` is one that was, and is to be reconnected."""

    def __init__(self, app: str, dead: Account | None = None) -> None:
        super().__init__(app)
        self.app, self.dead = app, dead


def of_tool(
    service: Service, visitor: Visitor, agent: str, component: ComponentInfo, arguments: Arguments
) -> ComponentRequest:
    """What ``agent`` asks of ``component`` with ``arguments``.

    Raises :class:`Unconnected`, :class:`webapp.errors.NotFound` and :class:`Invalid`.
    """
    # a label would be the agent's own word
    values = {name: prop_values.unwrapped(value)[0] for name, value in arguments.items()}
    dynamic_props_id = values.get(DYNAMIC_PROPS_ID)
    if component.has_reload:
        values.pop(DYNAMIC_PROPS_ID, None)
        if not isinstance(dynamic_props_id, str | None):
            raise Invalid.of(DYNAMIC_PROPS_ID, "It must be text, as it was answered.")
    user = visitor.user(service)
    of_user = accounts.of_user(service.store, user) if user else ()
    for choice in account_choice.arguments(component.props, of_user):
        account = choice.choose(values.pop(choice.name, None))
        if account is not None and not account.dead:
            values[choice.prop["name"]] = {"authProvisionId": account.id}
        elif choice.is_needed:
            raise Unconnected(choice.prop["app"], account or next(iter(choice.accounts), None))
    known = dynamic_props_id if component.has_reload else None
    added = requests.reloaded(service, visitor.scene, visitor.external_id, component, known)
    return ComponentRequest(
        scene=visitor.scene,
        external_id=visitor.external_id,
        component=component,
        configured=requests.by_own_names(component, values, added),
        dynamic_props_id=known or None,
        stash_id=file_stash.new_stash_id() if _writes_files(component) else None,
        agent=agent,
    )


def _writes_files(component: ComponentInfo) -> bool:
    return bool(orjson.loads(component.json).get("stash"))
