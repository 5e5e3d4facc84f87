"""Turn texts into vectors, to compare them by meaning."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, app, integer, string, string_list

from .. import common


class CreateEmbeddings(Action):
    name = "Create embeddings"
    description = (
        "Turn texts into vectors that can be compared by meaning. "
        "[See the documentation](https://platform.openai.com/docs/api-reference/embeddings/create)"
    )
    annotations = READS

    account = app("openai")
    model = string(label="Model", options=common.find_models, use_query=True, default="text-embedding-3-small")
    input = string_list(label="Texts")
    dimensions = integer(label="Dimensions", description="The model's own number unless given.", min=1, optional=True)

    def run(self, ctx: Context) -> Any:
        request = {name: ctx.props[name] for name in ("model", "input", "dimensions") if ctx.props[name] is not None}
        answer = ctx.http.post("/embeddings", json=request).json()
        vectors = [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]
        ctx.export("$summary", f"Embedded {counted(vectors, 'text')}")
        return {"model": answer["model"], "embeddings": vectors, "usage": answer["usage"]}
