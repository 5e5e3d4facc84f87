"""The webhook of a project's environment (specification 2.9, 4.13): where events go that have no place of their own.

Its signing key is the environment's: Connect notifications are signed with it too. It is shown when the webhook is
made and when it is regenerated, and never again.
"""

from typing import Any

from flask import Response

from webapp.kit.clock import SECOND
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body
from webapp.service.domain.base import scopes
from webapp.service.domain.deliveries import endpoints, signing_keys
from webapp.service.domain.deliveries.endpoints import Endpoint


class NewWebhook(Body):
    """Where it leads."""

    url: str


def show(call: Call) -> Response:
    """The webhook, or null."""
    found = endpoints.of_project(call.store, call.scene)
    return answers.json({"data": _shape(found) if found else None})


def put(call: Call) -> Response:
    """Make the webhook, or give it another URL; one that was switched off begins anew."""
    url = call.body(NewWebhook).url
    endpoints.check_url("url", url)
    with call.store.write() as tx:
        there = endpoints.of_project(tx, call.scene)
        if there is None:
            endpoints.add(tx, call.service, "project", url, scene=call.scene)
        elif there.url != url or not there.active:
            endpoints.move(tx, there, url, call.service.clock())
    found = endpoints.of_project(call.store, call.scene)
    shown = _shape(found) if found else {}
    if there is None:
        shown["signing_key"] = signing_keys.of_scene(call.service, call.scene)
    return answers.json({"data": shown})


def remove(call: Call) -> Response:
    """Remove the webhook; the key stays, because notifications are signed with it."""
    with call.store.write() as tx:
        found = endpoints.of_project(tx, call.scene)
        if found is not None:
            endpoints.remove(tx, found, call.service.clock())
    return answers.empty()


def regenerate(call: Call) -> Response:
    """Give the environment a new signing key. Without a webhook, which notifications do not need, it stands alone."""
    with call.store.write() as tx:
        key = signing_keys.regenerate(tx, call.service, call.scene)
        found = endpoints.of_project(tx, call.scene)
    return answers.json({"data": {**(_shape(found) if found else {"signing_key_set": True}), "signing_key": key}})


def _shape(found: Endpoint) -> dict[str, Any]:
    return {
        "id": found.id,
        "url": found.url,
        "signing_key_set": True,
        "created_at": found.created_at // SECOND,
        "updated_at": found.updated_at // SECOND,
    }


READ, WRITE = (scopes.PROJECTS_READ,), (scopes.PROJECTS_WRITE,)
OPERATIONS = (
    Operation("get_project_webhook", "GET", "P/webhook", show, READ, connect=False),
    Operation("set_project_webhook", "PUT", "P/webhook", put, WRITE, connect=False, body=NewWebhook),
    Operation("delete_project_webhook", "DELETE", "P/webhook", remove, WRITE, connect=False),
    Operation("regenerate_project_key", "POST", "P/webhook/regenerate_signing_key", regenerate, WRITE, connect=False),
)
