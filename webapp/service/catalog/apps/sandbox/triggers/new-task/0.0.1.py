"""Look for tasks that were created since the last time."""

from typing import Any

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.catalog.shared.polling import EXAMPLES, last_time, unseen
from webapp.service.components.authoring import Context, Trigger, app, service_db, timer

from .. import common


class NewTask(Trigger):
    name = "New task"
    description = "Each task that is created. [See the documentation](${sandbox}/)"
    dedupe = "unique"

    account = app("sandbox")
    project_id = common.project.but(optional=True, description="Leave it empty to hear of all projects.")
    timer = timer(default={"intervalSeconds": 15})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        self._emit(ctx, common.listed_tasks(ctx, per_page=EXAMPLES))

    def run(self, ctx: Context) -> None:
        self._emit(ctx, common.all_tasks(ctx, since=last_time(ctx)))

    def _emit(self, ctx: Context, tasks: list[dict[str, Any]]) -> None:
        for task in unseen(ctx, tasks, at=lambda row: row["created_at"]):
            ctx.emit(task, id=task["id"], summary=task["title"], ts=epoch_ms(task["created_at"]))
