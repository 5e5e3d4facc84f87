"""What an agent asks before it runs a tool: the values that an argument can have, and further arguments there are."""

from typing import Any

from webapp.service.domain.components import components
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.mcp import results, schemas
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.results import Result

MAX_PAGE = 1_000_000


def options(call: ToolCall) -> Result:
    """The values that one argument of a tool can have (contract "Configure").

    Raises what :meth:`ToolCall.request` does.
    """
    component = call.action(call.text("tool"))
    name = call.text("prop")
    prop = component.prop_aliases.get(name, name)
    query = OptionsQuery(
        prop, call.number("page", 0, MAX_PAGE), _words(call.arguments.get("query")), call.values("context")
    )
    answer = components.configure(call.service, call.request(component, call.values("arguments")), query)
    if answer["errors"]:
        return results.failure(" ".join(answer["errors"]))
    choices = answer["options"] or [{"label": text, "value": text} for text in answer["stringOptions"] or ()]
    context = {"context": answer["context"]} if answer["context"] else {}
    return results.data({"options": choices, **context}, *_notes(answer))


def configuration(call: ToolCall) -> Result:
    """The arguments that follow from the values so far (contract "Reload").

    Raises what :meth:`ToolCall.request` does.
    """
    component = call.action(call.text("tool"))
    request = call.request(component, call.values("arguments"))
    answer = components.reload(call.service, request)
    if answer["dynamicProps"] is None:
        return results.failure(" ".join(answer["errors"]) or "The further arguments cannot be told now. Try again.")
    props = answer["dynamicProps"]["configurableProps"]
    schema = schemas.input_schema(props, reloads=True)
    return results.data(
        {schemas.DYNAMIC_PROPS_ID: answer["dynamicProps"]["id"], "inputSchema": schema},
        *answer["errors"],
        *_notes(answer),
    )


def _words(query: Any) -> str | None:
    return query if isinstance(query, str) and query else None


def _notes(answer: dict[str, Any]) -> list[str]:
    return [f"Note: {warning['message']}" for warning in answer.get("warnings", ())]
