"""List projects, one page at a time."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, app, integer, string


class ListProjects(Action):
    name = "List projects"
    description = "List projects by name, one page at a time. [See the documentation](${sandbox}/)"
    annotations = READS

    account = app("sandbox")
    text = string(label="Name contains", optional=True)
    page = integer(label="Page", min=1, default=1)
    per_page = integer(label="Projects per page", min=1, max=100, default=50)

    def run(self, ctx: Context) -> Any:
        params = {"q": ctx.props.text, "page": ctx.props.page, "per_page": ctx.props.per_page}
        answer = ctx.http.get("/api/projects", params=params).json()
        ctx.export("$summary", f"Listed {len(answer['data'])} of {answer['total']} projects")
        return {"projects": answer["data"], "total": answer["total"]}
