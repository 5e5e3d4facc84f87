"""What is done once, in a process of its own, before the others of ``patchbay serve`` start."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from webapp.cli.serving import roles
from webapp.kit.clock import now
from webapp.people import start_tokens
from webapp.service.catalog.app import SANDBOX
from webapp.service.components.runner import Runner
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings


def prepare(settings: Settings, runner: Path) -> dict[str, Any]:
    """Bring schema and catalog up to date, asking the runner that listens at ``runner`` what components declare.

    Gives what the supervisor has to know, as JSON can carry it.
    """
    service = open_service(settings, runner=Runner.connect(runner))
    try:
        sandbox = None
        if settings.sandbox:
            client_id, client_secret = oauth_apps.ensure_sandbox(service)
            redirect_uri = oauth_apps.new_redirect_uri(service, SANDBOX)
            sandbox = asdict(
                roles.SandboxClient(client_id, client_secret, redirect_uri, *oauth_clients.example(service))
            )
        return {"start_token": start_tokens.issue(service.store, now), "sandbox": sandbox}
    finally:
        close_service(service)
