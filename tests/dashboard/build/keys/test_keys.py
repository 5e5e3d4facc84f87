"""The sections as a whole: in the menu of those who may see them, each at its address, and nowhere for others."""

import re

import pytest

from tests.dashboard.embedded import BASE, Embedded
from webapp.dashboard.build.keys import keys
from webapp.dashboard.build.keys.keys import SECTIONS
from webapp.dashboard.client.build import limits
from webapp.people import api_keys

URL = "/build/keys"


@pytest.mark.parametrize("section", SECTIONS)
def test_each_section_has_an_address_and_leads_to_the_others(office: Embedded, section: str) -> None:
    page = office.browser("developer").get(f"{URL}/{section}")
    assert "<h1>API & keys</h1>" in page
    assert f'href="{URL}" aria-current="page"' in page, "the menu"
    (tabs,) = re.findall(r'<nav class="tabs.*?</nav>', page, re.DOTALL)
    assert re.findall(r'href="([^"]+)"', tabs) == [f"{URL}/{name}" for name in SECTIONS]
    assert re.findall(r'href="([^"]+)" aria-current="page"', tabs) == [f"{URL}/{section}"]
    office.browser("member").get(f"{URL}/{section}", code=404)


def test_the_address_of_all_leads_to_the_first(office: Embedded) -> None:
    answer = office.browser("developer").client.get(URL, base_url=BASE)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{URL}/clients")
    office.browser("member").get(URL, code=404)


@pytest.mark.parametrize("section", ["absent", "Clients", "%2e%2e", "clients/"])
def test_there_is_no_other_section(office: Embedded, section: str) -> None:
    office.browser("developer").get(f"{URL}/{section}", code=404)


def test_a_section_that_the_service_lacks_has_no_tab(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "now", lambda _: None)
    monkeypatch.setattr(limits, "custom", lambda _: None)
    monkeypatch.setattr(keys, "offers", lambda _, ask: ask() is not None)
    browser = office.browser("developer")
    assert "Rate limits" not in browser.get(f"{URL}/clients")
    browser.get(f"{URL}/limits", code=404)


def test_ones_own_key_stands_in_settings(office: Embedded) -> None:
    page = office.browser("developer").get(f"{URL}/api-keys")
    assert "Not created yet." in page and 'href="/settings#api-key"' in page


def test_owners_see_who_has_a_key(office: Embedded) -> None:
    member, store = office.people["member"], office.service.store
    api_keys.create(store, office.service.clock, member.id)
    assert member.email in office.browser("owner").get(f"{URL}/api-keys")
    assert member.email not in office.browser("developer").get(f"{URL}/api-keys")
    with store.write() as tx:
        api_keys.revoke(tx, office.service.clock(), member.id)
    assert member.email not in office.browser("owner").get(f"{URL}/api-keys")
