"""The parts of a running sandbox, assembled by ``app`` and available to requests through :func:`current`."""

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
    """A running sandbox. Slow accounts wait ``slow_seconds``, slow receivers ``receiver_seconds``."""

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
