"""Find tasks by their title, of one project or of all."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, Option, app, integer, string

from .. import common


class FindTasks(Action):
    name = "Find tasks"
    description = "Find tasks by words in their title, the newest first. [See the documentation](${sandbox}/)"
    annotations = READS

    account = app("sandbox")
    project_id = common.project.but(optional=True, description="Leave it empty to look through all projects.")
    text = string(label="Title contains", optional=True)
    since = string(label="Since", description="A time such as 2030-01-31T08:00:00Z.", optional=True)
    sort = string(
        label="Newest by",
        options=[Option("When it was created", "created"), Option("When it was last changed", "updated")],
        default="created",
    )
    limit = integer(label="At most", description="How many tasks to return.", min=1, max=100, default=20)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        params = {"q": props.text, "since": props.since, "sort": props.sort, "per_page": props.limit}
        place = common.in_project(props.project_id, "tasks") if props.project_id else "/api/tasks"
        answer = ctx.http.get(place, params=params).json()
        ctx.export("$summary", f"Found {counted(answer['total'], 'task')}")
        return {"tasks": answer["data"], "total": answer["total"]}
