"""Find tasks by a filter of Todoist's own."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer, string

from ..common import account, listed


class FindTasks(Action):
    name = "Find tasks"
    description = (
        "Find the tasks that fit a filter, written as in Todoist itself. "
        "[See the documentation](https://developer.todoist.com/api/v1/#tag/Tasks)"
    )
    annotations = READS

    todoist = account
    query = string(label="Filter", description="Such as today | overdue, or search: milk.")
    most = integer(label="At most", default=100, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        tasks = listed(ctx, "/tasks/filter", ctx.props.most, query=ctx.props.query)
        ctx.export("$summary", f"Found {counted(tasks, 'task')}")
        return tasks
