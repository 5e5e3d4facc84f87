"""Emit by a cron expression. The service does so itself, without a runner."""

from typing import Any

from webapp.service.components.authoring import Context, Trigger, timer


class Cron(Trigger):
    name = "Cron schedule"
    description = "An event at the times of a cron expression, in the time zone of your choice."

    cron = timer(
        label="Schedule",
        description='Five fields and a time zone, such as {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}.',
        default={"cron": "0 * * * *", "timezone": "UTC"},
    )

    def run(self, ctx: Context) -> Any:
        ctx.emit(ctx.event)
