"""What the actions of OpenAI share: the models to choose from."""

from webapp.service.components.authoring import Context, Option, Options


def find_models(ctx: Context) -> Options:
    """The models that the key may use, by name; they come in one page."""
    if ctx.page > 0:
        return Options([])
    names = sorted(model["id"] for model in ctx.http.get("/models").json()["data"])
    return Options([Option(name, name) for name in names if ctx.query.lower() in name.lower()])
