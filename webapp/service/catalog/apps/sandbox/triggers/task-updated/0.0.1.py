"""Emits changed tasks, which a webhook of the sandbox reports."""

from webapp.service.catalog.shared import webhooks
from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.components.authoring import Context, Trigger, app, http_interface, service_db

from .. import common


class TaskUpdated(Trigger):
    name = "Task updated"
    description = "Each task that is changed, at once. [See the documentation](${sandbox}/)"
    dedupe = "unique"

    account = app("sandbox")
    project_id = common.project.but(optional=True, description="Leave it empty to hear of all projects.")
    http = http_interface()
    db = service_db()

    def activate(self, ctx: Context) -> None:
        webhook = {"url": ctx.endpoint, "event": "task.updated", "project_id": ctx.props.project_id}
        hook = ctx.http.post("/api/webhooks", json=webhook).json()
        webhooks.remember(ctx, hook["id"], hook["secret"])

    def deactivate(self, ctx: Context) -> None:
        if hook := webhooks.registered_id(ctx):
            webhooks.remove(ctx, f"/api/webhooks/{hook}")

    def run(self, ctx: Context) -> None:
        expected = "sha256=" + webhooks.hmac_sha256(webhooks.shared_secret(ctx), ctx.event["bodyRaw"])
        if not webhooks.equal(webhooks.header(ctx, "X-Sandbox-Signature"), expected):
            webhooks.log_forged(ctx, "the sandbox")
            return
        event = ctx.event["body"]
        ctx.emit(event["task"], id=event["id"], summary=event["task"]["title"], ts=epoch_ms(event["sent_at"]))
