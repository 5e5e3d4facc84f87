"""Emit each request that comes to the trigger's own address. The service does so itself, without a runner."""

from typing import Any

from webapp.service.components.authoring import Context, Trigger, http_interface, integer, string


class NewRequests(Trigger):
    name = "New requests"
    description = "Get an address of its own, and emit an event for each HTTP request that comes to it."

    http = http_interface(custom_response=True)
    response_status = integer(
        label="Response status", description="Sent back to each request.", min=200, max=599, default=200, optional=True
    )
    response_content_type = string(
        label="Response content type",
        description="Such as text/plain or application/json.",
        default="application/json",
        optional=True,
    )
    response_body = string(
        label="Response body",
        description="What the trigger answers to each request.",
        default='{"success": true}',
        optional=True,
    )

    def run(self, ctx: Context) -> Any:
        ctx.emit(ctx.event, summary=f"{ctx.event['method']} {ctx.event['path']}")
        ctx.respond(
            ctx.props.response_status, ctx.props.response_body, {"content-type": ctx.props.response_content_type}
        )
