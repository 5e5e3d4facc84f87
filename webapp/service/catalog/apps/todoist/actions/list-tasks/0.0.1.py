"""List tasks that are not done."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer

from ..common import account, listed, project_prop


class ListTasks(Action):
    name = "List tasks"
    description = (
        "List the tasks that are not done, of all projects or one. "
        "[See the documentation](https://developer.todoist.com/api/v1/#tag/Tasks)"
    )
    annotations = READS

    todoist = account
    project_id = project_prop.but(description="Empty for all.")
    most = integer(label="At most", default=100, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        tasks = listed(ctx, "/tasks", ctx.props.most, project_id=ctx.props.project_id)
        ctx.export("$summary", f"Listed {counted(tasks, 'task')}")
        return tasks
