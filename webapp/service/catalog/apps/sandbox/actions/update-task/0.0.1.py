"""Change a task; its form opens with what the task holds."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, Prop, app

from .. import common

CHANGEABLE = {"title": common.title.but(optional=True), "notes": common.notes, "due": common.due, "done": common.done}


class UpdateTask(Action):
    name = "Update task"
    description = (
        "Change what you fill in and leave the rest of the task as it is. [See the documentation](${sandbox}/)"
    )
    annotations = OVERWRITES

    account = app("sandbox")
    project_id = common.project
    task_id = common.task.but(reload_props=True)
    title = CHANGEABLE["title"]
    notes = CHANGEABLE["notes"]
    due = CHANGEABLE["due"]
    done = CHANGEABLE["done"]

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        if not ctx.props.task_id:
            return {}
        task = ctx.http.get(common.of_task(ctx.props.task_id)).json()
        filled = {name: prop.but(default=task[name]) for name, prop in CHANGEABLE.items()}
        return filled | common.field_props(ctx, task["project_id"], task["fields"])

    def run(self, ctx: Context) -> Any:
        change = {name: ctx.props[name] for name in CHANGEABLE if ctx.props[name] is not None}
        change["fields"] = common.field_values(ctx)
        task = ctx.http.patch(common.of_task(ctx.props.task_id), json=change).json()
        ctx.export("$summary", f"Updated task {task['title']}")
        return task
