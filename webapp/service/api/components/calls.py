"""Configure, reload and run (specification 4.6–4.7a), in every path form. A Connect token acts for its own user.

What goes wrong in a component answers 200 and says so; what is wrong with the request answers 400 before it runs.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from flask import Response
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, ExternalUserId
from webapp.service.api.components.components import NOUNS, Noun
from webapp.service.domain.base import scopes
from webapp.service.domain.components import components, file_stash
from webapp.service.domain.components.components import ComponentRequest, OptionsQuery
from webapp.service.domain.components.prop_values import MAX_DEPTH

MAX_PAGE = 1_000_000


def _shallow(found: dict[str, Any]) -> dict[str, Any]:
    """Refuse what is nested deeper than a person would: nobody below must follow it."""
    level: list[Any] = [found]
    for _ in range(MAX_DEPTH):
        inside = [one for one in level if isinstance(one, dict | list)]
        level = [child for one in inside for child in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return found
    raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")


def _whole_page(found: Any) -> int:
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= MAX_PAGE or found % 1:
        raise ValueError("Use a whole number from 0.")
    return int(found)


def _stash(found: Any) -> Any:
    if not isinstance(found, str | bool):
        raise ValueError("Use NEW, true or the stash_id of an earlier run.")
    return found


JsonObject = Annotated[dict[str, Any], AfterValidator(_shallow)]
PageNumber = Annotated[
    int, BeforeValidator(_whole_page), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_PAGE})
]
StashId = Annotated[
    str | bool, BeforeValidator(_stash), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "boolean"}]})
]


class ComponentCall(Body):
    """What every call of a component takes. ``blocking`` is accepted, and always blocks."""

    id: str
    external_user_id: ExternalUserId
    version: str | None = None
    blocking: bool | None = None
    configured_props: JsonObject | None = None
    dynamic_props_id: str | None = None


class Configuring(ComponentCall):
    """Which options are asked for."""

    prop_name: str
    page: PageNumber | None = None
    prev_context: JsonObject | None = None
    query: str | None = None


class Running(ComponentCall):
    """A run. ``stash_id`` ("NEW", true or an earlier run's) keeps the files that it writes."""

    stash_id: StashId | None = None


def configure(noun: Noun) -> Callable[[Call], Response]:
    """The handler that looks up the options of a prop."""

    def handler(call: Call) -> Response:
        body = call.body(Configuring)
        lookup = OptionsQuery(body.prop_name, body.page or 0, body.query or None, body.prev_context or {})
        return answers.json(components.configure(call.service, _order(call, noun, body), lookup))

    return handler


def reload(noun: Noun) -> Callable[[Call], Response]:
    """The handler that reloads the props of a component with dynamic props."""

    def handler(call: Call) -> Response:
        return answers.json(components.reload(call.service, _order(call, noun, call.body(ComponentCall))))

    return handler


def run(call: Call) -> Response:
    """Run an action."""
    body = call.body(Running)
    stash_id = None if body.stash_id is None else file_stash.checked_stash_id(body.stash_id)
    return answers.json(components.run(call.service, replace(_order(call, ACTIONS, body), stash_id=stash_id)))


def _order(call: Call, noun: Noun, body: ComponentCall) -> ComponentRequest:
    """What the body asks for, once the caller is known to act for that user and on that kind of component."""
    external_id = call.caller.user_filter(body.external_user_id) or body.external_user_id
    component = components.find(call.service, body.id, body.version or None, noun.kind)
    call.caller.require(scopes.ACTIONS if component.kind == "action" else scopes.TRIGGERS)
    return ComponentRequest(
        scene=call.scene,
        external_id=external_id,
        component=component,
        given=body.configured_props or {},
        dynamic_props_id=body.dynamic_props_id or None,
    )


ACTIONS = next(noun for noun in NOUNS if noun.kind == "action")
OPERATIONS = (
    *(
        operation
        for noun in NOUNS
        for operation in (
            Operation(
                f"configure_{noun.one}", "POST", f"P/{noun.path}/configure", configure(noun), noun.scopes,
                body=Configuring,
            ),
            Operation(
                f"reload_{noun.one}_props", "POST", f"P/{noun.path}/props", reload(noun), noun.scopes,
                body=ComponentCall,
            ),
        )
    ),
    Operation("run_action", "POST", "P/actions/run", run, (scopes.ACTIONS,), body=Running),
    Operation("run_component", "POST", "P/components/run", run, (scopes.ACTIONS,), body=Running),
)  # fmt: skip
