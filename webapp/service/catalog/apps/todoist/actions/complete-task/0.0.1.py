"""Mark a task as done."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import SETS
from webapp.service.components.authoring import Action, Context

from ..common import account, task_prop


class CompleteTask(Action):
    name = "Complete task"
    description = (
        "Mark a task as done; one that repeats moves to its next date. "
        "[See the documentation](https://developer.todoist.com/api/v1/#tag/Tasks)"
    )
    annotations = SETS | {"idempotentHint": False}

    todoist = account
    task_id = task_prop

    def run(self, ctx: Context) -> Any:
        ctx.http.post(f"/tasks/{quote(ctx.props.task_id, safe='')}/close")
        ctx.export("$summary", f"Completed {ctx.label('task_id') or 'the task'}")
        return {"id": ctx.props.task_id, "completed": True}
