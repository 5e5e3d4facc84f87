"""A restart between any two steps of connecting an account: the flow can be finished, and there is one account."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.fakes.browser import Browser
from tests.fakes.installation import Installation
from tests.fakes.thirdparty import GOOD_KEY, ThirdParty
from tests.once import stores


@pytest.mark.parametrize("mode", ["tab", "window"])
def test_a_sign_in_survives_a_restart_between_any_two_steps(
    installation: Installation, browser: Browser, party: ThirdParty, mode: str
) -> None:
    token = installation.token()
    installation.restart()
    opened = browser.get(installation.link(token, "acme"))
    installation.restart()
    page = browser.get(opened.location)
    installation.restart()
    started = browser.get(page.start_link(window=mode == "window"))
    assert started.status == 303, started.text
    installation.restart()
    consented = browser.get(started.location)
    installation.restart()
    called = browser.get(consented.location)
    assert called.status == 303, called.text
    installation.restart()
    ended = browser.get(called.location)
    assert ended.status == 200
    installation.restart()
    again = browser.get(opened.location)
    assert "connected" in again.text.lower()
    (account,) = installation.accounts()
    assert account.healthy and account.identity_name == "Ada"
    assert party.calls.count("POST /token") == 1


def test_a_key_form_survives_a_restart_between_any_two_steps(
    installation: Installation, browser: Browser, party: ThirdParty
) -> None:
    token = installation.token()
    installation.restart()
    page = browser.visit(installation.link(token, "acme_keys"))
    installation.restart()
    form = {**page.hidden("/_static/connect/keys"), "cf_api_key": GOOD_KEY}
    sent = browser.post("/_static/connect/keys", form)
    assert sent.status == 200, sent.text
    installation.restart()
    repeated = browser.post("/_static/connect/keys", form)
    assert repeated.status == 200
    assert len(installation.accounts()) == 1
    assert party.calls.count("GET /me") == 1


def test_a_framed_page_survives_a_restart(installation: Installation, browser: Browser) -> None:
    token = installation.token(allowed_origins=["https://app.example.com"])
    installation.restart()
    page = browser.frame(installation.link(token, "acme"))
    fields = page.hidden("/_static/connect/status")
    started = browser.get(page.start_link(window=True))
    installation.restart()
    begun = browser.post("/_static/connect/status", fields, HX_Request="true")
    assert begun.status == 200 and "Finish at" in begun.text
    waiting = {name: value for name, value in fields.items() if name != "shown"}
    assert browser.post("/_static/connect/status", waiting, HX_Request="true").status == 204
    called = browser.get(browser.get(started.location).location)
    installation.restart()
    told = browser.post("/_static/connect/status", waiting, HX_Request="true")
    assert called.status == 303 and told.status == 200
    (account,) = installation.accounts()
    assert account.id in told.text


def test_whoever_reloads_the_callback_after_a_restart_makes_no_second_account(
    installation: Installation, browser: Browser, party: ThirdParty
) -> None:
    page = browser.visit(installation.link(installation.token(), "acme"))
    consented = browser.get(browser.get(page.start_link()).location)
    browser.get(consented.location)
    installation.restart()
    repeated = browser.get(consented.location)
    assert repeated.status == 400
    assert len(installation.accounts()) == 1
    assert party.calls.count("POST /token") == 1


@dataclass
class Process:
    """The web process of an installation, as an operator runs it."""

    installation: Installation
    pid: int = 0

    def start(self) -> None:
        """Run it, and wait until it answers."""
        settings = self.installation.settings
        env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
        env |= {
            "PATCHBAY_DATA": str(settings.data),
            "PATCHBAY_SECRET_KEY": settings.secret_key or "",
            "PATCHBAY_PUBLIC_URL": settings.public_url,
            "PATCHBAY_SANDBOX_PORT": str(settings.sandbox_port),
            "PATCHBAY_ALLOW_HOSTS": ",".join(settings.allow_hosts),
            **stores.settings_of(settings.database),
        }
        command = [sys.executable, "-m", "webapp.cli.main", "web", "--port", str(settings.port)]
        self._process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[2])
        self.pid = self._process.pid
        for _ in range(600):
            assert self._process.poll() is None, "the process ended by itself"
            with suppress(requests.ConnectionError, requests.Timeout):  # it listens before it can answer
                if requests.get(f"{settings.public_url}/readyz", timeout=5).status_code == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the process does not answer")

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def process(installation: Installation) -> Iterator[Process]:
    """The installation in a process of its own."""
    installation.restart()
    installation.stop_serving()
    made = Process(installation)
    made.start()
    yield made
    made.kill()


@pytest.mark.faults
def test_a_sign_in_survives_kill_9(
    installation: Installation, process: Process, browser: Browser, party: ThirdParty
) -> None:
    def crash() -> None:
        process.kill()
        process.start()

    page = browser.visit(installation.link(installation.token(), "acme"))
    started = browser.get(page.start_link())
    crash()
    called = browser.get(browser.get(started.location).location)
    assert called.status == 303
    crash()
    ended = browser.get(called.location)
    assert ended.status == 200 and "connected" in ended.text.lower()
    assert len(installation.accounts()) == 1
    assert party.calls.count("POST /token") == 1


@pytest.mark.faults
def test_killed_in_the_exchange_the_flow_can_be_started_again(
    installation: Installation, process: Process, browser: Browser, party: ThirdParty
) -> None:
    """The code is spent and nobody knows its tokens: the attempt says so, and a new one makes the one account."""
    page = browser.visit(installation.link(installation.token(), "acme"))
    consented = browser.get(browser.get(page.start_link()).location)
    party.while_exchanging = process.kill
    with pytest.raises(requests.ConnectionError):
        browser.get(consented.location)
    process.start()
    party.while_exchanging = None
    assert installation.accounts() == []
    waiting = browser.visit(consented.location)
    assert waiting.status == 200, waiting.text
    fresh = browser.get(f"{page.url}?again=1")
    called = browser.visit(browser.get(browser.get(fresh.start_link()).location).location)
    assert called.status == 200 and "connected" in called.text.lower()
    assert len(installation.accounts()) == 1
