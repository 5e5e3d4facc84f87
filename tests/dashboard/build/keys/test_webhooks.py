"""Addresses that are told about accounts, on API & keys: added, tested, begun anew and removed, with their key."""

import re

import pytest

from tests.dashboard.embedded import Browser, Embedded
from webapp.service.domain.deliveries import endpoint_state, endpoints, signing_keys
from webapp.service.domain.deliveries.endpoints import Endpoint

URL = "/build/keys"
HOOK = "https://hooks.acme.example/patchbay"


@pytest.fixture
def webhook(office: Embedded) -> Endpoint:
    with office.service.store.write() as tx:
        for endpoint in endpoints.general_webhooks(tx):
            endpoint_state.remove(tx, endpoint, office.service.clock())
        return endpoints.add(tx, office.service, "general", HOOK, scene=None, name="", description="")


def shown_key(browser: Browser, path: str) -> str:
    return str(re.findall(r'id="secret".*?<code>(whsec_[^<]+)</code>', browser.follow(path), re.DOTALL)[0])


def test_an_address_is_added_and_one_that_cannot_be_reached_is_not(office: Embedded, webhook: Endpoint) -> None:
    browser = office.browser("developer")
    assert "is notified when an account" in browser.get(f"{URL}/webhooks/new")
    refused = browser.send(f"{URL}/webhooks", {"url": "http://10.0.0.1/x"})
    assert refused.status_code == 422 and 'value="http://10.0.0.1/x"' in refused.text
    page = browser.follow(f"{URL}/webhooks", {"url": " https://b.example/in "})
    assert "b.example/in" in page and "hooks.acme.example/patchbay" in page
    assert webhook.id in [row.id for row in endpoints.general_webhooks(office.service.store)]


def test_one_that_was_switched_off_says_why_and_begins_anew(office: Embedded, webhook: Endpoint) -> None:
    browser = office.browser()
    assert "Nothing sent yet" in browser.get(f"{URL}/webhooks") and "Try again" not in browser.get(f"{URL}/webhooks")
    with office.service.store.write() as tx:
        endpoint_state.deactivate(tx, webhook.id, "It wants no more.", office.service.clock())
    page = browser.get(f"{URL}/webhooks")
    assert "Stopped" in page and "It wants no more." in page
    assert "pending ones are on their way" in browser.follow(f"{URL}/webhooks/{webhook.id}/reset")
    fresh = endpoints.find(office.service.store, webhook.id)
    assert fresh is not None and fresh.active


def test_a_test_is_sent_and_an_address_removed(office: Embedded, webhook: Endpoint) -> None:
    browser = office.browser()
    browser.follow(f"{URL}/webhooks/{webhook.id}/test")
    sql = "SELECT COUNT(*) AS n FROM deliveries WHERE endpoint_id = :id"
    assert office.service.store.one(sql, {"id": webhook.id}) == {"n": 1}
    assert HOOK in browser.get(f"{URL}/webhooks/{webhook.id}/removal")
    assert "is removed" in browser.follow(f"{URL}/webhooks/{webhook.id}/removal")
    assert endpoints.general_webhooks(office.service.store) == []
    for verb in ("test", "reset", "removal"):
        assert browser.send(f"{URL}/webhooks/{webhook.id}/{verb}").status_code == 404


def test_the_projects_own_address(office: Embedded) -> None:
    browser, project = office.browser(), f"{URL}/webhooks/project"
    assert browser.send(f"{project}/test").status_code == browser.send(f"{project}/removal").status_code == 404
    assert browser.send(f"{URL}/project-webhook", {"url": "nonsense"}).status_code == 422
    page = browser.follow(f"{URL}/project-webhook", {"url": "https://events.example/in"})
    assert "Receives events of triggers that have no webhook URL of their own." in page
    assert 'value="https://events.example/in"' in browser.get(f"{URL}/project-webhook/edit")
    own = endpoints.of_project(office.service.store, office.scene)
    assert own is not None
    with office.service.store.write() as tx:
        endpoint_state.deactivate(tx, own.id, "It wants no more.", office.service.clock())
    assert "It wants no more." in browser.get(f"{URL}/webhooks")
    browser.follow(f"{project}/reset")
    own = endpoints.of_project(office.service.store, office.scene)
    assert own is not None and own.active
    assert "is removed" in browser.follow(f"{project}/removal")
    assert endpoints.of_project(office.service.store, office.scene) is None


def test_the_signing_key_is_shown_and_made_anew(office: Embedded) -> None:
    browser = office.browser()
    key = shown_key(browser, f"{URL}/signing-key")
    assert key == signing_keys.key_of(office.service, office.scene)
    assert "Create a new signing key?" in browser.get(f"{URL}/signing-key/rotation")
    fresh = shown_key(browser, f"{URL}/signing-key/rotation")
    assert fresh == signing_keys.key_of(office.service, office.scene) != key
    browser.send(f"{URL}/secret/kept")


def test_members_meet_nothing(office: Embedded, webhook: Endpoint) -> None:
    member = office.browser("member")
    for path in ("webhooks/new", "project-webhook/edit", "signing-key/rotation", f"webhooks/{webhook.id}/removal"):
        member.get(f"{URL}/{path}", code=404)
    verbs = (f"webhooks/{webhook.id}/{verb}" for verb in ("reset", "test", "removal"))
    for path in ("webhooks", "project-webhook", "signing-key", "signing-key/rotation", *verbs):
        assert member.send(f"{URL}/{path}", {"url": HOOK}).status_code == 404
    assert [row.id for row in endpoints.general_webhooks(office.service.store)] == [webhook.id]
