"""Watching a mailbox: Gmail publishes that it changed to a topic of the OAuth client's project; triggers look at once.

There is one watch for a mailbox and a project, so the triggers of an account share it, and it is for all labels. It
ends after seven days, unless it is asked for again. Sources, read on 2026-11-28:
https://developers.google.com/workspace/gmail/api/guides/push and
https://developers.google.com/workspace/gmail/api/reference/rest/v1/users/watch.
"""

from webapp.service.components.authoring import ComponentError, Context, HttpError, Trigger, http_interface

_HOOK = "hook"
_OTHER_TOPIC = 400


class WatchingTrigger(Trigger):
    """A trigger that polls, and that Gmail notifies where the account's OAuth client has a topic (``ctx.endpoint``)."""

    def activate(self, ctx: Context) -> None:
        ctx.db.set(_HOOK, None)
        if ctx.endpoint:
            ctx.subscribed_until(ctx.event["timestamp"])  # what renews it makes it, so its refusal stops no trigger

    def renew(self, ctx: Context) -> None:
        if not ctx.endpoint:
            raise ComponentError("The OAuth client of this account has no topic for notifications of Gmail.")
        try:
            watch = _watch(ctx, ctx.endpoint)
        except HttpError as error:
            if error.status != _OTHER_TOPIC:
                raise
            ctx.http.post("/users/me/stop")  # the mailbox is watched for another topic of the project
            watch = _watch(ctx, ctx.endpoint)
        ctx.db.set(_HOOK, ctx.http.get("/users/me/profile").json()["emailAddress"])
        ctx.subscribed_until(int(watch["expiration"]))

    def deactivate(self, ctx: Context) -> bool:
        if ctx.db.get(_HOOK) and not ctx.event.get("shared"):
            ctx.http.post("/users/me/stop")
        ctx.db.set(_HOOK, None)
        return True


def _watch(ctx: Context, topic: str) -> dict[str, str]:
    watch: dict[str, str] = ctx.http.post("/users/me/watch", json={"topicName": topic}).json()
    return watch


notified_prop = http_interface(at_client=True)
