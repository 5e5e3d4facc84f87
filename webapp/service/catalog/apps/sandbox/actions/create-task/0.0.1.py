"""Create a task; the project that it goes to decides which fields it has."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Prop, app

from .. import common


class CreateTask(Action):
    name = "Create task"
    description = "Add a task to a project. [See the documentation](${sandbox}/)"
    annotations = CREATES

    account = app("sandbox")
    project_id = common.project.but(reload_props=True)
    title = common.title
    notes = common.notes
    due = common.due
    done = common.done.but(default=False)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        return common.field_props(ctx, ctx.props.project_id) if ctx.props.project_id else {}

    def run(self, ctx: Context) -> Any:
        values = {name: ctx.props[name] for name in ("title", "notes", "due", "done") if ctx.props[name] is not None}
        new = values | {"fields": common.field_values(ctx)}
        task = ctx.http.post(common.in_project(ctx.props.project_id, "tasks"), json=new).json()
        ctx.export("$summary", f"Created task {task['title']} in {ctx.label('project_id') or task['project_id']}")
        return task
