"""The dashboard in front of another Connect service, played by a second Patchbay without a single extension.

A person walks through every page by its links: nothing leads nowhere, and nothing is offered that the service lacks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlsplit

import pytest

from tests.dashboard.plain_service import without_extensions
from tests.fakes import thirdparty
from tests.fakes.browser import Browser, Page
from tests.fakes.deployed import emit, plant_trigger_of
from tests.fakes.installation import Installation, prepared
from tests.fakes.tenants import PASSWORD, connected
from webapp.people import users
from webapp.service.domain.access import connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

OTHERS = re.compile(r"/static|/docs|/apps/(?!http|schedule|acme_keys)|/apps\?.*category=")
NOTHING_NEW = 204


@dataclass
class Elsewhere:
    """The service elsewhere, our dashboard before it, and what its signed-in person has there."""

    service: Installation
    browser: Browser
    account: Account
    trigger: DeployedTrigger

    def page(self, path: str) -> Page:
        page = self.browser.visit(self.browser.home + path)
        assert page.status == 200, page.text
        return page


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    with thirdparty.running() as party:
        data = prepared(tmp_path_factory.mktemp("elsewhere"), party.apps)
        service = Installation(data, PATCHBAY_ALLOW_HOSTS=party.netloc)
        without_extensions(service.app)
        service.start()
        client, secret = oauth_clients.create(service.service, name="Dashboard", project_id=service.project.id)
        ours = Installation(
            tmp_path_factory.mktemp("ours"),
            PATCHBAY_CONNECT_URL=service.url,
            PATCHBAY_CONNECT_CLIENT_ID=client.id,
            PATCHBAY_CONNECT_CLIENT_SECRET=secret,
            PATCHBAY_PROJECT=service.project.id,
        ).start()
        try:
            olga = users.create(
                ours.service.store, ours.clock, email="olga@acme.example", password=PASSWORD, role="owner"
            )
            account = connected(service, service.scene, olga.id)
            trigger, _ = plant_trigger_of(service.service, service.scene, "http-new-requests", user=olga.id)
            emit(service.service, trigger, {"hello": "there"})
            browser = Browser(ours.url)
            assert browser.form("/sign-in", "/sign-in", email="olga@acme.example", password=PASSWORD).status == 303
            yield Elsewhere(service, browser, account, trigger)
        finally:
            ours.stop()
            service.stop()


def links(page: Page) -> set[str]:
    """Where a page leads on its own site, by a click or by itself; of apps and categories, a few stand for all."""
    addresses = (unescape(address) for address in re.findall(r'(?:\shref|hx-get)="([^"#]*)', page.text))
    return {address for address in addresses if address.startswith("/") and not OTHERS.match(address)}


def test_every_page_answers_and_every_link_leads_somewhere(elsewhere: Elsewhere) -> None:
    waiting, statuses = ["/"], {}
    while waiting:
        page = elsewhere.browser.visit(elsewhere.browser.home + (path := waiting.pop()))
        statuses[path] = page.status
        waiting += links(page) - statuses.keys() - set(waiting)
    assert {path: status for path, status in statuses.items() if status not in (200, NOTHING_NEW)} == {}
    account, trigger = f"/accounts/{elsewhere.account.id}", f"/triggers/{elsewhere.trigger.id}"
    assert {"/apps", "/accounts", "/triggers", "/settings", account, trigger, f"{trigger}/configuration"} <= set(
        statuses
    )


@pytest.mark.parametrize(
    ("path", "lacking"),
    [
        ("/apps", ["> Logs", "Needs setup"]),
        ("/accounts/{account}", ["Test now", "Rename", "Used by", "Revoke", "History"]),
        ("/triggers/{trigger}", ["Deliveries", "Logs", "Send a test event", "24\xa0h"]),
        ("/apps/http/actions/http-send-request", ["History"]),
    ],
)
def test_what_the_service_lacks_is_not_offered(path: str, lacking: list[str], elsewhere: Elsewhere) -> None:
    text = elsewhere.page(path.format(account=elsewhere.account.id, trigger=elsewhere.trigger.id)).text
    assert [words for words in lacking if words in text] == []


def test_a_person_starts_pauses_and_ends_things_there(elsewhere: Elsewhere) -> None:
    browser, service = elsewhere.browser, elsewhere.service.service
    schedule = "/apps/schedule/triggers/schedule-custom-interval"
    fields = {"d": "cron", "mode.cron": "interval", "n.cron": "15", "u.cron": "minutes", "t.deploy:emit": "false"}
    watching = browser.follow(browser.form(schedule, f"{schedule}/deployment", **fields))
    trigger = deployed_triggers.find(service.store, urlsplit(watching.url).path.rpartition("/")[2])
    assert trigger and trigger.active and "Every 15 minutes" in watching.text
    page = f"/triggers/{trigger.id}"
    browser.form(page, f"{page}/pause")
    paused = deployed_triggers.find(service.store, trigger.id)
    assert paused and not paused.active
    assert browser.form(page, f"{page}/deletion").status == 303
    assert deployed_triggers.find(service.store, trigger.id) is None
    account = connected(elsewhere.service, elsewhere.service.scene, elsewhere.account.external_id)
    page = f"/accounts/{account.id}"
    assert browser.form(page, f"{page}/disconnection").status == 303
    assert [each.id for each in elsewhere.service.accounts()] == [elsewhere.account.id]


def test_a_portal_there_is_the_link_of_its_token(elsewhere: Elsewhere) -> None:
    """The service tells nobody whose a token is; it can connect one account for its user, framed or not."""
    request = TokenRequest("alice", allowed_origins=("https://app.acme.example",))
    token = str(
        connect_tokens.create(elsewhere.service.service, elsewhere.service.scene, request, client_id=None)["token"]
    )
    frame = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site", "Referer": "https://app.acme.example/"}
    for headers in (frame, {}):
        browser = Browser(elsewhere.browser.home)
        answer = browser.get(f"{browser.home}/portal?token={token}&app=acme_keys", **headers)
        assert answer.location.startswith(f"{elsewhere.service.url}/_static/connect.html?token={token}")
        link = browser.follow(browser.get(answer.location, **headers))
        assert link.status == 200 and "Acme" in link.text


def test_pages_are_stale_but_true_while_the_service_fails(elsewhere: Elsewhere) -> None:
    fresh = {path: elsewhere.page(path).text for path in ("/apps", "/accounts", "/triggers", "/apps/http")}
    elsewhere.service.stop_serving()
    try:
        for path, text in fresh.items():
            stale = elsewhere.page(path).text
            assert "The service does not answer now." in stale
            assert set(re.findall(r"<h[1-3].*?</h[1-3]>", text)) <= set(re.findall(r"<h[1-3].*?</h[1-3]>", stale))
        assert elsewhere.browser.visit(f"{elsewhere.browser.home}/apps/rss").status == 503
    finally:
        elsewhere.service.start()
    assert "does not answer" not in elsewhere.page("/settings").text
