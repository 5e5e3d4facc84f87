"""Delete a task for good."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, alert, app

from .. import common


class DeleteTask(Action):
    name = "Delete task"
    description = "Delete a task for good. [See the documentation](${sandbox}/)"
    annotations = OVERWRITES

    account = app("sandbox")
    warning = alert("A deleted task cannot be brought back.", "warning")
    project_id = common.project
    task_id = common.task

    def run(self, ctx: Context) -> Any:
        ctx.http.delete(common.of_task(ctx.props.task_id))
        ctx.export("$summary", f"Deleted task {ctx.label('task_id') or ctx.props.task_id}")
        return {"id": ctx.props.task_id, "deleted": True}
