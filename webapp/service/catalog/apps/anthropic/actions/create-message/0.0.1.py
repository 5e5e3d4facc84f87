"""Ask a Claude model."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Option, Options, app, integer, string


def find_models(ctx: Context) -> Options:
    """The models that the key may use, newest first."""
    after = ctx.previous.get("after")
    if ctx.page and not after:
        return Options([])
    answer = ctx.http.get("/v1/models", params={"limit": 100, "after_id": after}).json()
    models = [Option(model["display_name"], model["id"]) for model in answer["data"]]
    return Options(models, {"after": answer["last_id"]} if answer["has_more"] else None)


class CreateMessage(Action):
    name = "Create message"
    description = (
        "Send a prompt to a Claude model and get its answer. "
        "[See the documentation](https://platform.claude.com/docs/en/api/messages)"
    )
    annotations = CREATES

    anthropic = app("anthropic")
    model = string(label="Model", options=find_models)
    prompt = string(label="Prompt")
    system = string(label="System prompt", description="Who the model is to be, and how to answer.", optional=True)
    max_tokens = integer(
        label="Tokens at most", description="The answer is cut off there.", default=1024, min=1, optional=True
    )

    def run(self, ctx: Context) -> Any:
        request: dict[str, Any] = {
            "model": ctx.props.model,
            "max_tokens": ctx.props.max_tokens,
            "messages": [{"role": "user", "content": ctx.props.prompt}],
        }
        if ctx.props.system:
            request["system"] = ctx.props.system
        message = ctx.http.post("/v1/messages", json=request).json()
        ctx.export("text", "".join(block["text"] for block in message["content"] if block["type"] == "text"))
        ctx.export("$summary", f"{message['model']} answered with {message['usage']['output_tokens']} tokens")
        return message
