"""The bundle that every verb gets: it finds apps, and opens the sandbox's address to the sandbox's apps alone."""

from dataclasses import replace

import pytest

from webapp.errors import NotFound
from webapp.service.domain.base.service import Service, wake_nobody
from webapp.service.outbound.guard import Target
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.sockets import Deadline
from webapp.service.outbound.urls import Url, parse_url


def test_an_app_is_found_by_slug_and_by_id(service: Service) -> None:
    app = service.app("tinykeys")
    assert service.app(app.id).slug == "tinykeys"
    for unknown in ("", "nothing", "app_nothing", "TINYKEYS "):
        with pytest.raises(NotFound):
            service.app(unknown)


def test_the_sandbox_is_open_to_its_own_apps_alone(service: Service) -> None:
    served = replace(service, settings=replace(service.settings, sandbox=True))
    url = parse_url(f"{served.settings.sandbox_url}/api/me")
    assert isinstance(url, Url)
    sandbox, other = service.app("sandbox"), service.app("tinykeys")
    assert isinstance(served.client_for(sandbox).guard.pin(url, Deadline(5)), Target)
    assert isinstance(served.client_for(other).guard.pin(url, Deadline(5)), Failure)
    closed = replace(service, settings=replace(service.settings, sandbox=False))
    assert isinstance(closed.client_for(sandbox).guard.pin(url, Deadline(5)), Failure)


def test_without_a_worker_nobody_is_woken(service: Service) -> None:
    assert service.wake is wake_nobody
    service.wake()
