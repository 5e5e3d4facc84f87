"""The result of a tool: text for a model, limited to a readable length.

A longer text is cut, and stored as a file for a day, with a link that is valid for half an hour.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from webapp.errors import TooLarge
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.mcp.authentication import Visitor

Result = dict[str, Any]
MAX_TEXT = 30_000
"""Characters; about as many as hosts pass on to a model."""
SUMMARY = "$summary"
_DONE = "Done. There is nothing to show."


def text(*parts: str) -> Result:
    """The result of a success, as one or more texts."""
    return {"content": [{"type": "text", "text": part} for part in parts]}


def failure(sentence: str) -> Result:
    """The result of an error, with text that helps the model to correct its call."""
    return {"content": [{"type": "text", "text": sentence}], "isError": True}


def data(value: Mapping[str, Any], *words: str) -> Result:
    """``value`` as text after ``words``, and as structured content for programs."""
    return {**text(*words, orjson.dumps(value).decode()), "structuredContent": value}


def of_run(service: Service, visitor: Visitor, tool: str, outcome: Mapping[str, Any]) -> Result:
    """The outcome of a run (contract "Run") as a result for the agent."""
    errors = [line["err"]["message"] for line in outcome["os"] if line.get("err")]
    notes = [f"Note: {warning['message']}" for warning in outcome.get("warnings", ())]
    if errors:
        return failure(" ".join([errors[-1], *notes]))
    exports = {name: value for name, value in outcome["exports"].items() if name != SUMMARY}
    value = {"result": outcome["ret"], "exports": exports} if any(exports.values()) else outcome["ret"]
    summary = outcome["exports"].get(SUMMARY)
    shown = [] if value is None else _cut(service, visitor, tool, value)
    parts = [part for part in (summary, *shown, *notes) if isinstance(part, str) and part]
    return text(*(parts or [_DONE]))


def _cut(service: Service, visitor: Visitor, tool: str, value: Any) -> Sequence[str]:
    """``value`` as text; if it is long, its beginning and a link to all of it."""
    whole = value if isinstance(value, str) else orjson.dumps(value).decode()
    if len(whole) <= MAX_TEXT:
        return [whole]
    cut = f"That is the beginning: {MAX_TEXT:,} of {len(whole):,} characters. "
    return [whole[:MAX_TEXT], cut + _kept(service, visitor, f"{tool}.json", whole.encode())]


def _kept(service: Service, visitor: Visitor, name: str, content: bytes) -> str:
    """Store ``content`` and return its link."""
    try:
        with service.store.write() as tx:
            media_type = "application/json"
            key = file_stash.keep(service, tx, visitor.scene, visitor.external_id, None, name, media_type, content)
    except TooLarge:
        return "The whole is too large to be kept; ask for less."
    return f"The whole is here for half an hour: {file_stash.link(service, key)}"
