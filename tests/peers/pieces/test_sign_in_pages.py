"""A piece is set up, connected, used, renewed and reconnected in a browser, at a provider that the tests play."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.fakes.pieces.bench import PieceBench
from tests.fakes.pieces.sign_in import SignIn
from tests.fakes.pieces.web import Asked, Web
from tests.peers.pieces import owner
from tests.peers.pieces.conftest import Ours, Registry
from tests.peers.pieces.owner import Owner
from webapp.kit.clock import HOUR

pytestmark = [pytest.mark.peer, pytest.mark.whole_chromium]


def played_for(page: Any, web: Web, *hosts: str) -> None:
    """Let the browser find the played ``hosts``, too."""

    def answer(route: Any) -> None:
        address = urlsplit(route.request.url)
        query = dict(parse_qsl(address.query))
        played = web.hosts[address.netloc](Asked(route.request.method, address.netloc, address.path, query, {}))
        route.fulfill(status=played.status, headers=dict(played.headers), body=played.body)

    for host in hosts:
        page.context.route(f"https://{host}/**", answer)


def open_page(contexts: Callable[..., Any], bench: PieceBench, path: str) -> Any:
    """The page of a new owner, at ``path``."""
    person = Owner(bench, contexts, owner.create(bench))
    person.open(path)
    return person.page


def set_up(page: Any, sign_in: SignIn) -> None:
    """Give the client's id and secret on the app's page."""
    page.get_by_label("Client ID").fill(sign_in.client_id)
    page.get_by_label("Client secret", exact=True).fill(sign_in.client_secret)
    page.get_by_role("button", name="Save and check").click()


def decide(page: Any, button: str = "Allow") -> None:
    """From the Connect Link to the provider in this tab, and back."""
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    page.get_by_role("heading", name="May acme-desk act for you?").wait_for()
    page.get_by_role("link", name=button).click()


def run(page: Any, url: str) -> Any:
    """Run the action at ``url`` with what is filled in; where its result stands once it is there."""
    page.goto(url)
    with page.expect_response(lambda response: response.request.method == "POST" and "/run" in response.url):
        page.get_by_role("button", name="Run action").first.click()
    return page.locator("#result")


def test_a_piece_is_signed_in_to_used_renewed_and_reconnected(
    ours: Ours, contexts: Callable[..., Any], axe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, sign_in = ours.bench, SignIn("acme-desk", "s3cret", "alice", expires_in=3600)
    monkeypatch.setattr(ours.provider, "sign_in", sign_in)
    bench.forget_clients("workbench")
    home, action = bench.installation.url, f"{bench.installation.url}/apps/workbench/actions/workbench-get-me"
    page = open_page(contexts, bench, "/apps/workbench")
    played_for(page, bench.web, "acme.workbench.example")
    page.get_by_text("Enter this address as the Redirect URI.").wait_for()
    page.get_by_text("Workbench checks this client only when somebody connects.").wait_for()
    assert axe(page) == []
    set_up(page, sign_in)
    page.get_by_text("Workbench is set up.").wait_for()
    for button in ("Deny", "Allow"):
        page.goto(f"{home}/apps/workbench")
        page.get_by_role("button", name=re.compile("^Connect")).first.click()
        page.get_by_label("Tenant").fill("acme")
        assert axe(page) == []
        page.get_by_role("button", name="Continue").click()
        decide(page, button)
        page.wait_for_url("**error=access_denied*" if button == "Deny" else "**/accounts/apn_*")
    page.get_by_text(re.compile(r" is connected( as .+)?\.$")).first.wait_for()
    account, first = page.url, sign_in.live[-1]

    run(page, action).get_by_text("alice").first.wait_for()
    bench.clock.advance(2 * HOUR)
    run(page, action).get_by_text("Succeeded").first.wait_for()
    assert sign_in.live and sign_in.live[-1] != first and sign_in.refused == []

    sign_in.revoke()
    run(page, action).get_by_text("no longer works; reconnect it").first.wait_for()
    page.goto(account)
    page.get_by_text("Needs you.").wait_for()
    assert axe(page) == []
    page.get_by_role("button", name="Reconnect").first.click()
    assert page.get_by_label("Tenant").input_value() == "acme"
    page.get_by_role("button", name="Continue").click()
    decide(page)
    page.wait_for_url(re.compile(re.escape(account)))
    page.get_by_text(re.compile(r" is connected( as .+)?\.$")).first.wait_for()
    run(page, action).get_by_text("Succeeded").first.wait_for()


def test_notion_of_the_registry_is_signed_in_to(
    registry: Registry, contexts: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, sign_in = registry.bench, SignIn("acme-desk", "s3cret", "alice", pkce=False)
    monkeypatch.setattr(registry.notion, "sign_in", sign_in)
    plan = bench.plans["@activepieces/piece-notion"]
    key = next(part.key for part in plan.actions if part.key.endswith("list-databases"))
    page = open_page(contexts, bench, "/apps/notion")
    played_for(page, bench.web, "api.notion.com")
    set_up(page, sign_in)
    page.get_by_text("Notion is set up.").wait_for()
    page.get_by_role("button", name=re.compile("^Connect")).first.click()
    decide(page)
    page.wait_for_url("**/accounts/apn_*")
    page.get_by_text(re.compile(r" is connected( as .+)?\.$")).first.wait_for()
    account = page.url
    run(page, f"{bench.installation.url}/apps/notion/actions/{key}").get_by_text("Tasks").locator(
        "visible=true"
    ).first.wait_for()
    sign_in.revoke()
    run(page, f"{bench.installation.url}/apps/notion/actions/{key}").get_by_text("Failed").first.wait_for()
    page.goto(account)
    page.get_by_text("Needs you.").wait_for()


KEYS = [
    ("workbench_api_key", {"API key": "key-nobody"}, {"API key": "key-alice"}, "The workbench does not know this key"),
    ("workbench_token", {"Token": "token-nobody"}, {"Token": "token-alice"}, "The workbench does not know this key"),
    ("workbench_user_and_password", None, {"User": "alice", "Password": "secret"}, ""),
    ("workbench_machine", {"Client ID": "robot", "Client secret": "wrong"},
     {"Client ID": "robot", "Client secret": "s3"}, "does not accept these credentials"),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "wrong", "right", "refusal"), KEYS)
def test_a_key_is_refused_and_then_connected(
    ours: Ours, contexts: Callable[..., Any], axe: Any, slug: str, wrong: Any, right: dict[str, str], refusal: str
) -> None:
    installation = ours.bench.installation
    user = f"keys-of-{slug}"
    page = contexts().new_page()
    page.goto(installation.link(installation.token(user), slug))
    for values, ending in ((wrong, refusal), (right, "Connected")):
        for label, text in (values or {}).items():
            page.get_by_label(label, exact=True).fill(text)
        if values:
            page.get_by_role("button", name=re.compile("^Connect ")).click()
            page.get_by_text(ending, exact=ending == "Connected").first.wait_for()
            assert axe(page) == []
    (account,) = [each for each in installation.accounts() if each.external_id == user]
    assert (account.app, account.healthy) == (slug, True)


def test_one_of_several_ways_is_chosen_and_one_that_needs_no_account_runs(
    ours: Ours, contexts: Callable[..., Any]
) -> None:
    page = open_page(contexts, ours.bench, "/apps/workbench")
    ways = page.get_by_role("definition").filter(has=page.get_by_role("link", name="Workbench (API key)"))
    names = ways.get_by_role("link").all_inner_texts()
    assert names == ["Workbench (API key)", "Workbench (Token)", "Workbench (User and password)"]
    ways.get_by_role("link", name="Workbench (Token)").click()
    page.get_by_role("heading", name="Workbench (Token)", level=1).wait_for()
    page.goto(f"{ours.bench.installation.url}/apps/workbench_open/actions/workbench_open-add")
    page.get_by_label("Left").fill("2")
    page.get_by_label("Right").fill("3")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Run action").click()
    page.locator("#result dl").get_by_text("5", exact=True).first.wait_for()
