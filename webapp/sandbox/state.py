"""Everything one running sandbox holds, gathered once by ``app`` and reached from a request by :func:`current`."""

from dataclasses import dataclass
from typing import cast

from flask import current_app

from webapp.kit.clock import Clock
from webapp.sandbox.clients import Client
from webapp.sandbox.grants import Grants
from webapp.sandbox.people import Keys
from webapp.sandbox.projects import Projects
from webapp.sandbox.receiver import Receiver
from webapp.sandbox.tasks import Tasks
from webapp.sandbox.webhooks import Webhooks

EXTENSION = "sandbox"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """One sandbox. ``slow_seconds`` is how long a slow account waits, ``receiver_seconds`` a slow receiver."""

    public_url: str
    client: Client
    clock: Clock
    slow_seconds: float
    receiver_seconds: float
    grants: Grants
    keys: Keys
    projects: Projects
    tasks: Tasks
    webhooks: Webhooks
    receiver: Receiver


def current() -> Sandbox:
    """The sandbox that serves this request."""
    return cast(Sandbox, current_app.extensions[EXTENSION])
