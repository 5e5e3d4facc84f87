"""Create a task."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Option, integer, string, string_list

from ..common import account, project_prop


class CreateTask(Action):
    name = "Create task"
    description = (
        "Create a task in the inbox or in a project. "
        "[See the documentation](https://developer.todoist.com/api/v1/#tag/Tasks)"
    )
    annotations = CREATES

    todoist = account
    content = string(label="Task")
    description_ = string(label="Description", optional=True)
    project_id = project_prop.but(description="Empty for the inbox.")
    due_string = string(label="Due", description="In words, such as tomorrow at 9 or every Monday.", optional=True)
    priority = integer(
        label="Priority",
        options=[Option("Urgent", 4), Option("High", 3), Option("Medium", 2), Option("Normal", 1)],
        optional=True,
    )
    labels = string_list(label="Labels", optional=True)

    def run(self, ctx: Context) -> Any:
        fields = {name: value for name, value in ctx.props.items() if value not in (None, "", [])}
        task = ctx.http.post("/tasks", json=fields).json()
        ctx.export("$summary", f"Created the task {task['content']}")
        return task
