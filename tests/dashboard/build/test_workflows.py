"""Build: Workflows, over the real service."""

import re

import pytest

from tests.dashboard.embedded import Embedded
from tests.fakes.deployed import plant_trigger_of
from webapp.service.domain.deliveries import endpoints, trigger_webhooks, workflows
from webapp.service.domain.deliveries.endpoints import Endpoint

PAGE, URL = "/build/workflows", "https://app.example.com/orders"


@pytest.fixture
def orders(office: Embedded) -> Endpoint:
    return workflows.add(office.service, office.scene, name="Orders & more", url=f"{URL}?key=secret")


def keys(page: str) -> list[str]:
    return re.findall(r"whsec_[\w+/=]+", page)


def test_one_is_added_and_its_key_shown(office: Embedded) -> None:
    browser = office.browser("developer")
    added = browser.send(PAGE, {"name": "Sales", "url": URL})
    assert added.status_code == 200 and "Workflow is ready." in added.text
    workflow = next(
        row for row in endpoints.of_scene(office.service.store, office.scene, "workflow") if row.name == "Sales"
    )
    assert set(keys(added.text)) == {endpoints.key_of(office.service, workflow)} and workflow.id in added.text
    page = browser.get(PAGE)
    assert "Sales" in page and "app.example.com/orders" in page and not keys(page)
    for form, sentence in (
        ({"name": "", "url": URL}, "missing"),
        ({"name": "Sales", "url": "http://10.0.0.1/x"}, "not on the public internet"),
    ):
        refused = browser.send(PAGE, form)
        assert refused.status_code == 422 and sentence in refused.text and f'value="{form["url"]}"' in refused.text


def test_it_is_renamed_moved_and_begun_anew(office: Embedded, orders: Endpoint) -> None:
    browser = office.browser("developer")
    assert 'value="Orders &amp; more"' in browser.get(f"{PAGE}/{orders.id}/change")
    refused = browser.send(f"{PAGE}/{orders.id}/change", {"name": "x", "url": "nonsense"})
    assert refused.status_code == 422 and "Orders &amp; more" in refused.text
    page = browser.follow(f"{PAGE}/{orders.id}/change", {"name": "Returns", "url": f"{URL}/2"})
    assert "“Returns” is saved." in page and "app.example.com/orders/2" in page
    with office.service.store.write() as tx:
        endpoints.switch_off(tx, orders.id, "It answered 410 Gone.", office.service.clock())
    assert "410 Gone" in browser.get(PAGE)
    assert "410 Gone" not in browser.follow(f"{PAGE}/{orders.id}/reset")


def test_its_key_is_shown_to_who_asks_and_made_anew(office: Embedded, orders: Endpoint) -> None:
    browser = office.browser("developer")
    before = endpoints.key_of(office.service, orders)
    assert keys(browser.send(f"{PAGE}/{orders.id}/key").text) == [before]
    assert "signed with the new key" in browser.get(f"{PAGE}/{orders.id}/rotation")
    (after,) = keys(browser.send(f"{PAGE}/{orders.id}/rotation").text)
    assert after != before


def test_removing_one_says_what_uses_it(office: Embedded, orders: Endpoint) -> None:
    browser = office.browser("developer")
    trigger, _ = plant_trigger_of(office.service, office.scene, "http-new-requests")
    with office.service.store.write() as tx:
        trigger_webhooks.set_workflows(tx, trigger, [orders.id])
    assert "1 trigger sends here" in browser.get(PAGE)
    question = browser.get(f"{PAGE}/{orders.id}/removal")
    assert "Triggers that send there now" in question and trigger.name in question
    assert "The workflow is removed." in browser.follow(f"{PAGE}/{orders.id}/removal")
    assert trigger_webhooks.workflows_of(office.service.store, trigger.id) == []
    browser.get(f"{PAGE}/{orders.id}/removal", code=404)


def test_to_members_nothing_of_it_is_there(office: Embedded, orders: Endpoint) -> None:
    browser = office.browser("member")
    for path in (PAGE, f"{PAGE}/{orders.id}/change", f"{PAGE}/{orders.id}/removal"):
        browser.get(path, code=404)
    for path in (PAGE, f"{PAGE}/{orders.id}/key", f"{PAGE}/{orders.id}/rotation", f"{PAGE}/{orders.id}/removal"):
        assert browser.send(path, {"name": "Mine", "url": URL}).status_code == 404
    assert PAGE not in browser.get("/apps")
    assert office.browser().client.post(f"{PAGE}/{orders.id}/removal").status_code in (302, 400)
    assert workflows.get(office.service.store, office.scene, orders.id) == orders
