"""Ask a model, and get its answer as text."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, ComponentError, Context, app, integer, string

from .. import common

FIELDS = ("model", "input", "instructions", "max_output_tokens", "previous_response_id")


class CreateResponse(Action):
    name = "Create response"
    description = (
        "Send a text to a model and get its answer. "
        "[See the documentation](https://platform.openai.com/docs/api-reference/responses/create)"
    )
    annotations = CREATES

    account = app("openai")
    model = string(label="Model", aliases=("modelId",), options=common.find_models, use_query=True)
    input = string(label="Input", aliases=("userMessage",), description="What to ask.")
    instructions = string(label="Instructions", description="How the model should answer.", optional=True)
    max_output_tokens = integer(
        label="Longest answer", description="In tokens, those of its reasoning included.", min=16, optional=True
    )
    previous_response_id = string(
        label="Previous response",
        description="The id of the response to continue, as this action gives it.",
        optional=True,
    )

    def run(self, ctx: Context) -> Any:
        request = {name: ctx.props[name] for name in FIELDS if ctx.props[name] is not None}
        response = ctx.http.post("/responses", json=request).json()
        if response["status"] == "failed":
            reason = (response.get("error") or {}).get("message") or "OpenAI gave no reason."
            raise ComponentError(f"The model could not answer: {reason}")
        text = _text(response)
        ctx.export("text", text)
        ctx.export("$summary", f"{response['model']} answered with {len(text.split())} words")
        if response["status"] == "incomplete":
            ctx.log("The answer is cut short:", (response.get("incomplete_details") or {}).get("reason"))
        return {"id": response["id"], "status": response["status"], "text": text, "usage": response.get("usage")}


def _text(response: Mapping[str, Any]) -> str:
    """All that the model wrote. A response holds reasoning and other items besides its messages."""
    messages = [item for item in response["output"] if item["type"] == "message"]
    return "".join(part["text"] for message in messages for part in message["content"] if part["type"] == "output_text")
