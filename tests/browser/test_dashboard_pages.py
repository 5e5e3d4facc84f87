"""Every page and state of the dashboard: axe finds nothing in either theme, and nothing overflows a narrow phone."""

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyotp import TOTP

from tests.browser.conftest import serving
from tests.browser.person import PASSWORD, Person
from webapp.app import create_app
from webapp.kit.clock import SECOND
from webapp.people import invitations, password_resets, start_tokens, users
from webapp.people.totp import Totp
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import account_state, app_overrides, oauth_apps
from webapp.service.domain.deliveries import endpoints, workflows
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.instance.people import TotpSealer
from webapp.settings import Settings

pytestmark = pytest.mark.browser

WIDTH = 360


@pytest.fixture
def look(contexts: Callable[..., Any], axe: Any) -> tuple[Any, Callable[[str], None]]:
    """A page on a phone, and what checks the state that it shows in both themes."""
    page = contexts(reduced_motion="reduce", viewport={"width": WIDTH, "height": 740}).new_page()

    def check(name: str) -> None:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert axe(page, colours=scheme == "dark") == [], (name, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, name

    return page, check


@pytest.fixture
def people(product: Any) -> Any:
    """Makes people who can sign in."""

    def make(email: str) -> users.User:
        service = product.service
        return users.create(service.store, service.clock, email=email, password=PASSWORD, role="developer")

    return make


def test_pages_of_somebody_without_accounts(look: Any, product: Any, people: Any) -> None:
    page, check = look
    people("empty@example.com")
    person = Person(page, product)
    page.goto(f"{product.url}/sign-in")
    check("sign-in")
    person.sign_in("empty@example.com", "not the password")
    page.get_by_role("alert").wait_for()
    check("refused sign-in")
    person.sign_in("empty@example.com")
    person.heading("Apps")
    for path in (
        "/accounts",
        "/search",
        "/search?q=task",
        "/search?q=zzzz",
        "/logs",
        "/logs?kind=account&status=failed",
        "/apps?q=zzzz",
        "/nowhere",
        "/settings",
    ):
        page.goto(product.url + path)
        check(path)
    page.context.clear_cookies(name="patchbay_form")
    page.get_by_role("button", name="Save").click()
    person.heading("This form is no longer valid")
    check("forged form")
    page.goto(f"{product.url}/apps")
    page.get_by_role("button", name="Menu").click()
    check("menu")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    check("keys")


def test_pages_of_somebody_with_accounts(look: Any, product: Any, people: Any) -> None:
    page, check = look
    me = people("busy@example.com")
    person = Person(page, product, scripts=False)
    person.sign_in("busy@example.com")
    person.connect_thrice()
    check("just connected")
    ada, grace, key = product.accounts(me.id)
    account_state.mark_dead(product.service, grace, "Sandbox Tasks withdrew the access.")
    account_state.mark_retrying(product.service, key, "Sandbox Tasks did not answer.")
    paths = [
        "/apps", "/apps?category=appcat_nothing", "/apps/sandbox", "/apps/sandbox_keys", "/apps/github", "/apps/http",
        "/apps/sandbox?error=access_denied", "/accounts", "/accounts?status=working&app=sandbox_keys", "/logs",
        "/agents", "/agents?app=sandbox",
        f"/logs?id={ada.id}", *(f"/accounts/{one.id}" for one in (ada, grace, key)),
        f"/accounts/{ada.id}/name", f"/accounts/{ada.id}/revocation", f"/accounts/{ada.id}/disconnection",
        "/accounts/apn_nothing", "/agents/history",
    ]  # fmt: skip
    for path in paths:
        assert page.goto(product.url + path).ok == ("nothing" not in path.partition("?")[0]), path
        check(path)
    page.goto(f"{product.url}/accounts/{ada.id}")
    page.get_by_role("link", name="Rename").click()
    page.get_by_role("dialog").wait_for()
    check("rename")
    page.goto(f"{product.url}/accounts")
    states = page.locator("tbody .badge").all_inner_texts()
    assert states == ["Needs you", "Retrying", "Working"]


def test_pages_of_an_owner(look: Any, product: Any) -> None:
    page, check = look
    service = product.service
    olga = users.create(service.store, service.clock, email="olga@example.com", password=PASSWORD, role="owner")
    person = Person(page, product, scripts=False)
    person.sign_in("olga@example.com")
    person.heading("Apps")
    check("Get started on Apps")
    person.choose("Sandbox Tasks")
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    person.decide(page, "Allow")
    person.connected()
    account_state.rename(service, product.accounts(olga.id)[0], "grace.brewster.hopper@navy.example")
    for path in ("/accounts", "/agents"):  # the first asks the service anew
        page.goto(product.url + path)
    lines = page.get_by_text("grace.brewster.hopper@navy.example").evaluate(
        """(words) => {
            const range = document.createRange();
            return [...words.childNodes].filter((node) => node.textContent.trim()).map((node) => {
                range.selectNodeContents(node);
                return new Set([...range.getClientRects()].map((line) => line.top)).size;
            });
        }"""
    )
    assert set(lines) == {1}, "an address breaks before its host, if at all"
    check("an account with a long name")
    sections = ("clients", "api-keys", "webhooks", "limits", "usage")
    paths = [
        "/checklist", *(f"/build/keys/{section}" for section in sections),
        "/build/keys/calls", "/build/keys/calls/pages",
        "/build/keys/clients/new", "/build/keys/limits/new", "/build/keys/webhooks/new",
        "/build/keys/project-webhook/edit", "/build/keys/signing-key/rotation",
        "/build/logs", "/build/logs?kind=agent&status=failed", "/build/logs?id=nothing", "/logs/audit",
        "/build/apps", "/build/integrations", "/build/integrations/servers/new", "/build/embed", "/build/workflows",
        "/build/people", "/build/project", "/build/usage?days=30",
        "/build/project/new", "/build/keys/nothing", "/build/integrations/imports/new", "/build/apps/overrides/new",
        "/apps/github/setup",
    ]  # fmt: skip
    for path in paths:
        assert page.goto(product.url + path).ok == ("nothing" not in path.partition("?")[0]), path
        check(path)
    page.goto(f"{product.url}/build/logs?kind=account")
    page.locator("details.log summary").first.click()
    page.locator(".log-open").first.wait_for()
    check("an entry of the logs")
    page.goto(product.url + page.locator("details.log").first.get_attribute("hx-get"))
    page.locator(".log-open").wait_for()
    check("an entry on its own page")
    page.goto(f"{product.url}/build/project/new")
    page.get_by_label("Product name").fill("Corner Shop")
    page.get_by_label("Support e-mail").fill("help@shop.example")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_load_state()
    assert page.goto(f"{product.url}/build/project/deletion").ok
    check("the deletion of a project")


def test_pages_of_what_an_owner_made(look: Any, product: Any) -> None:
    """Each thing that a person adds in Build, and the questions before one of them changes or ends."""
    page, check = look
    service, scene = product.service, product.scene
    users.create(service.store, service.clock, email="mary@example.com", password=PASSWORD, role="owner")
    member = users.create(service.store, service.clock, email="may@example.com", password=PASSWORD, role="member")
    invitation, invited = invitations.invite(service.store, service.clock, email="new@example.com", role="member")
    reset, _ = password_resets.issue(service.store, service.clock, member)
    client, _ = oauth_clients.create(service, name="Server")
    github = oauth_apps.add(service, app="github", client_id="1", client_secret="2", project_id=scene.project_id)
    draft = app_overrides.Draft("Ours", github.id, {})
    override = app_overrides.create(service, scene.project_id, service.app("github"), draft)
    workflow = workflows.add(service, scene, name="Orders", url="https://app.example.com/orders")
    with service.store.write() as tx:
        webhook = endpoints.add(tx, service, "general", "https://a.example/in", scene=None)
    Person(page, product, scripts=False).sign_in("mary@example.com")
    for path in (
        f"/build/apps/{github.id}", f"/build/apps/{github.id}/removal",
        f"/build/apps/overrides/{override.id}", f"/build/apps/overrides/{override.id}/removal",
        f"/build/keys/clients/{client.id}/removal", f"/build/keys/clients/{client.id}/rotation",
        f"/build/keys/webhooks/{webhook.id}/removal",
        f"/build/people/{member.id}/lock-out", f"/build/people/{member.id}/removal",
        f"/build/people/{member.id}/two-step/off", f"/build/people/invitations/{invitation.id}/withdrawal",
        f"/build/workflows/{workflow.id}/change", f"/build/workflows/{workflow.id}/removal",
        f"/build/workflows/{workflow.id}/rotation",
    ):  # fmt: skip
        assert page.goto(product.url + path).ok, path
        check(path)
    page.context.clear_cookies()
    for path in (f"/invitation?token={invited}", f"/new-password?token={reset}", "/new-password", "/invitation"):
        page.goto(product.url + path)
        check(path)
    two_step = Totp(service.store, service.clock, TotpSealer(service))
    assert two_step.enable(member, TOTP(two_step.begin(member)).at(service.clock() // SECOND))
    Person(page, product, scripts=False).sign_in("may@example.com")
    page.goto(f"{product.url}/sign-in/code")
    check("/sign-in/code")


def test_pages_while_the_service_is_down(look: Any, product: Any, people: Any) -> None:
    page, check = look
    people("down@example.com")
    with socket.socket() as closed, serving(None) as web:
        closed.bind(("127.0.0.1", 0))
        remote = {
            "PATCHBAY_PORT": str(web.server_port),
            "PATCHBAY_CONNECT_URL": f"http://127.0.0.1:{closed.getsockname()[1]}",
            "PATCHBAY_CONNECT_CLIENT_ID": "client",
            "PATCHBAY_CONNECT_CLIENT_SECRET": "secret",
            "PATCHBAY_PROJECT": product.project.id,
        }
        settings = Settings.from_env(remote, data=product.service.settings.data)
        web.app = create_app(settings, service=product.service)
        down = f"http://localhost:{web.server_port}"
        person = Person(page, product)
        person.sign_in("down@example.com")
        person.heading("Apps")
        for path in ("/apps", "/accounts", "/accounts/apn_any", "/logs"):
            page.goto(down + path)
            page.get_by_role("alert").get_by_text("The service does not answer.").wait_for()
            page.get_by_role("link", name="Try again").wait_for()
            check(path)
        page.goto(f"{down}/settings")  # what does not need the service goes on working
        person.heading("Settings")
        check("/settings")


@pytest.fixture
def unopened(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A product that nobody has signed up to: its address, and its start token."""
    with serving(None) as web:
        settings = Settings.from_env({"PATCHBAY_PORT": str(web.server_port)}, data=tmp_path / "data")
        service = open_service(settings)
        try:
            web.app = create_app(settings, service=service)
            token = start_tokens.issue(service.store, service.clock)
            yield settings.public_url, str(token)
        finally:
            close_service(service)


def test_pages_of_the_first_start(look: Any, unopened: tuple[str, str]) -> None:
    page, check = look
    url, token = unopened
    for path in (f"/start?token={token}", "/start?token=wrong", "/sign-in"):
        page.goto(url + path)
        check(path)
    page.goto(f"{url}/start?token={token}")
    page.get_by_label("E-mail", exact=True).fill("not an address@")
    page.get_by_label("Password", exact=True).fill("2short")
    page.evaluate("document.querySelector('form').noValidate = true")
    page.get_by_role("button", name="Create login").click()
    page.locator("[aria-invalid=true]").first.wait_for()
    check("refused sign-up")


def test_a_theme_lasts_and_reaches_the_sign_in_page(contexts: Any, product: Any, people: Any) -> None:
    people("night@example.com")
    page = contexts(color_scheme="light").new_page()
    person = Person(page, product)
    person.sign_in("night@example.com")
    with page.expect_response(re.compile("/settings/theme$")):
        page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.goto(f"{product.url}/settings")
    assert page.get_by_role("radio", name="Dark").is_checked()
    person.button("Sign out").click()
    person.heading("Sign in")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    other = Person(contexts(color_scheme="light").new_page(), product)
    other.sign_in("night@example.com")
    other.heading("Apps")
    assert other.page.locator("html").get_attribute("data-theme") == "dark"


def test_times_are_exact_in_the_zone_one_chose(contexts: Any, product: Any, people: Any) -> None:
    people("zone@example.com")
    page = contexts(timezone_id="Asia/Tokyo").new_page()
    person = Person(page, product)
    person.sign_in("zone@example.com")
    page.goto(f"{product.url}/settings")
    shown = page.locator("time").first
    assert re.search(r"GMT\+9|JST", shown.get_attribute("title"))
    page.get_by_label("Time zone").select_option("America/Argentina/Buenos_Aires")
    person.button("Save").click()
    page.get_by_role("status").get_by_text("Your settings are saved.").wait_for()
    assert shown.get_attribute("title").endswith(" -03")
    assert shown.get_attribute("datetime").endswith("Z")
