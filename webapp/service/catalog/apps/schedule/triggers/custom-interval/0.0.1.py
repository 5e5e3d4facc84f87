"""Emit at fixed intervals. The service does so itself, without a runner."""

from typing import Any

from webapp.service.components.authoring import Context, Trigger, timer


class CustomInterval(Trigger):
    name = "Custom interval"
    description = "An event again and again, after as many seconds as you choose."

    cron = timer(
        label="Interval",
        description="From 1 second.",
        default={"intervalSeconds": 900},
    )

    def run(self, ctx: Context) -> Any:
        ctx.emit(ctx.event)
