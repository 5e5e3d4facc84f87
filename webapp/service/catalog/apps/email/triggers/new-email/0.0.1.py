"""Emit each mail that comes to the trigger's own address. The service does so itself, without a runner."""

from typing import Any

from webapp.service.components.authoring import Context, Trigger


class NewEmail(Trigger):
    name = "New email"
    description = "Get an e-mail address of its own, and emit an event for each mail that comes to it, with its files."
    native = True

    def run(self, ctx: Context) -> Any:
        ctx.emit(ctx.event, id=ctx.event["headers"].get("message-id"), summary=ctx.event["subject"])
