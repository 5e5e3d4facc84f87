"""Emit by a cron expression. The service does so itself, without a runner."""

from typing import Any

from webapp.service.components.authoring import Context, Trigger, timer


class Cron(Trigger):
    name = "Cron schedule"
    description = "An event at the times of a cron expression, in the time zone of your choice."

    cron = timer(
        label="Schedule",
        description="Five fields, such as 0 9 * * 1-5 for nine o’clock on working days, and a time zone.",
        default={"cron": "0 * * * *", "timezone": "UTC"},
    )

    def run(self, ctx: Context) -> Any:
        ctx.emit(ctx.event)
