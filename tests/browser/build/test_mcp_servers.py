"""An MCP server that nobody here wrote, with its own sign-in, as people meet it: in a portal from nothing to a run, by
embed.js on a product's page, by the Connect Link, and then over the API and by an agent. PyPI's ``mcp`` serves it.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import serving
from tests.browser.embed.host import Host
from tests.browser.embed.test_embed import OUTCOME, Site
from tests.fakes.browser import Browser
from tests.fakes.installation import Installation
from tests.peers.test_mcp_servers import as_agents_see_it, running
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.instance import mcp_servers
from webapp.service.domain.instance.mcp_servers import Asker

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]
GO = "Continue to Weather"
BERN = {"degrees": 5.0, "sunny": True}


@pytest.fixture(scope="module")
def weather(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation with the server as an app, which an owner added by its address and with an own account."""
    with running("python:oauth") as url:
        data = tmp_path_factory.mktemp("weather")
        served = Installation(data, PATCHBAY_ALLOW_HOSTS=url.split("/")[2]).start()
        browser = Browser(served.url)
        mcp_servers.add(served.service, url, "weather", Asker(), Options(name="Weather"))
        page = browser.visit(served.link(served.token("owner"), "weather"))
        browser.visit(browser.follow(browser.get(page.start_link()), until=served.url).location)
        browser.close()
        (own,) = served.accounts()
        mcp_servers.add(served.service, url, "weather", Asker(account_id=own.id, scene=served.scene), Options())
        yield served
        served.stop()


def account_of(weather: Installation, user: str) -> Account:
    """The account that ``user`` has."""
    (account,) = [each for each in weather.accounts() if each.external_id == user]
    assert account.healthy
    return account


def test_four_clicks_lead_from_nothing_to_a_run(weather: Installation, page: Any) -> None:
    page.goto(f"{weather.url}/portal?token={weather.token('alice')}")
    home = page.url.rpartition("/")[0]
    page.goto(f"{home}/apps/weather/actions")
    page.get_by_role("link", name="Weather", exact=True).last.click()  # 1
    page.get_by_role("button", name="Connect", exact=True).click()  # 2
    page.wait_for_load_state()
    with page.expect_popup() as opened:
        page.get_by_role("link", name=GO).locator("visible=true").first.click()  # 3: this server asks nothing more
    if not opened.value.is_closed():
        opened.value.wait_for_event("close")
    page.get_by_label("City").fill("Bern")
    page.get_by_role("button", name="Run action").click()  # 4
    page.get_by_text("degrees").first.wait_for()
    assert "5" in page.locator("#result").inner_text()
    assert account_of(weather, "alice").app == "weather"


def test_embed_js_connects_it_and_the_api_and_an_agent_run_it(weather: Installation, page: Any) -> None:
    host = Host(f"{weather.url}/embed")
    with serving(host, "127.0.0.1") as server:
        site = Site(weather, host, f"http://127.0.0.1:{server.server_port}")
        site.page(page, "bob", app="weather")
        page.get_by_role("button", name="Connect", exact=True).click()
        frame = page.frame_locator("iframe")
        frame.locator("html.ready").wait_for(state="attached")
        with page.expect_popup():
            frame.get_by_role("link", name=GO).first.click()
        account = page.evaluate(OUTCOME)["id"]
    assert account == account_of(weather, "bob").id

    token, props = weather.token("bob"), {"account": {"authProvisionId": account}}
    listed = weather.api("GET", "actions?app=weather", token).json()["data"]
    assert [each["key"] for each in listed if each["key"] == "weather-weather"] == ["weather-weather"]
    configure = {"id": "weather-weather", "external_user_id": "bob", "prop_name": "account", "configured_props": {}}
    assert weather.api("POST", "components/configure", token, json=configure).status_code == 200
    body = {"id": "weather-weather", "external_user_id": "bob", "configured_props": {**props, "city": "Bern"}}
    assert weather.api("POST", "actions/run", token, json=body).json()["ret"] == BERN
    as_agents_see_it(weather, token)


@pytest.mark.parametrize("scripts", [True, False])
def test_the_connect_link_connects_it(weather: Installation, contexts: Any, scripts: bool) -> None:
    user = f"carol-{scripts}"
    page = contexts(java_script_enabled=scripts).new_page()
    page.goto(weather.link(weather.token(user), "weather"))
    if scripts:
        page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    else:
        page.get_by_role("link", name=GO).locator("visible=true").first.click()
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    assert account_of(weather, user).authorized_scopes == ("tools",)
