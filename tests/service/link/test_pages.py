"""Opening the link: top-level and framed, with and without an app, each way in which it cannot be opened, and the pages
that list every app.
"""

import re
from typing import Any
from urllib.parse import quote

import pytest
from werkzeug.test import TestResponse

from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.people import users
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections
from webapp.service.domain.projects import project_logos, projects
from webapp.service.link import pages


def policy(page: TestResponse) -> dict[str, str]:
    parts = (part.partition(" ") for part in page.headers["Content-Security-Policy"].split("; "))
    return {name: rest for name, _, rest in parts}


def test_a_page_of_its_own_moves_the_token_out_of_the_url(world: Any, browser: Any) -> None:
    token = world.token()
    answer = browser.get(f"/_static/connect.html?token={token}&connectLink=true&app=sandbox", sec_fetch_dest="document")
    assert answer.status_code == 303
    assert re.fullmatch(r"/_static/connect/ls_\w+", answer.headers["Location"])
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/_static/connect" in cookie
    assert token not in cookie
    page = browser.get(answer.headers["Location"])
    assert page.status_code == 200 and token not in page.text
    assert "Acme wants to connect to your Sandbox Tasks" in page.text
    assert "<b>alice</b>" in page.text and "help@acme.example" in page.text and "Expires in 4 hours" in page.text


def test_the_page_has_the_projects_colour(world: Any, browser: Any) -> None:
    projects.update(world.service, world.project, brand_hue=165)
    page = browser.open(world.token())
    style = re.search(r'<style nonce="([^"]+)">@layer tokens { :root { --accent-h: 165; } }</style>', page.text)
    assert style and f"'nonce-{style[1]}'" in policy(page)["style-src"]


def test_another_browser_cannot_use_a_session(world: Any, browser: Any) -> None:
    answer = browser.get(f"/_static/connect.html?token={world.token()}", sec_fetch_dest="document")
    page = world.browser().get(answer.headers["Location"])
    assert page.status_code == 403 and "can’t be continued here" in page.text


def test_a_frame_gets_no_cookie_and_its_token_in_a_hidden_field(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=["https://app.acme.example", "http://localhost:3000"])
    page = browser.frame(token)
    assert page.status_code == 200 and "Set-Cookie" not in page.headers
    assert policy(page)["frame-ancestors"] == "https://app.acme.example http://localhost:3000"
    assert "X-Frame-Options" not in page.headers
    assert f'name="token" value="{token}"' in page.text


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 400, "This link is incomplete"),
        ("?token=", 400, "This link is incomplete"),
        ("?token=ctok_0123", 401, "This link is not known here"),
        ("?token=<script>alert(1)</script>", 401, "This link is not known here"),
    ],
)
def test_a_link_without_a_known_token_says_so(browser: Any, query: str, status: int, words: str) -> None:
    page = browser.get(f"/_static/connect.html{query}")
    assert page.status_code == status and words in page.text
    assert "<script>alert" not in page.text


def test_an_expired_link_names_its_end_and_who_helps(world: Any, browser: Any, hidden_fields: Any) -> None:
    token = world.token(error_redirect_uri="https://acme.example/failed?from=link")
    opened = browser.get(f"/_static/connect.html?token={token}", sec_fetch_dest="document").headers["Location"]
    world.clock.advance(5 * HOUR)
    late = browser.get(f"/_static/connect.html?token={token}", sec_fetch_dest="document")
    assert late.status_code == 401 and "This link has expired" in late.text and "help@acme.example" in late.text
    assert "https://acme.example/failed?from=link&amp;error=link_expired" in browser.get(opened).text
    assert "Write to" not in late.text  # another way leads on
    alone = world.token(expires_in=60)
    world.clock.advance(2 * MINUTE)
    page = browser.get(f"/_static/connect.html?token={alone}", sec_fetch_dest="document").text
    assert re.search(r'class="btn primary wide"\s+href="mailto:help@acme.example">\s+Write to help@acme.example', page)
    framed = browser.frame(world.token(expires_in=60, allowed_origins=["https://app.acme.example"]))
    world.clock.advance(2 * MINUTE)
    late = browser.post("/_static/connect", hidden_fields(framed.text))
    assert late.status_code == 401 and policy(late)["frame-ancestors"] == "https://app.acme.example"
    world.clock.advance(8 * DAY)
    assert connect_tokens.purge(world.service) == 3
    assert "not known here" in browser.get(f"/_static/connect.html?token={token}").text


def test_without_an_app_there_is_a_choice(world: Any, browser: Any) -> None:
    page = browser.open(world.token(), "&connectLink=true")
    assert "What do you want to connect?" in page.text
    slugs = re.findall(r'name="app" value="(\w+)">', page.text)
    assert "sandbox" in slugs and "http" not in slugs  # nothing to connect, never
    location = re.search(r'action="(/_static/connect/ls_\w+)"', page.text)[1]  # type: ignore[index]
    narrowed = browser.get(f"{location}?q=postgres&choose=1")
    assert re.findall(r'name="app" value="(\w+)">', narrowed.text)[0] == "postgresql"
    assert "No app matches" in browser.get(f"{location}?q=%3Cb%3Ezzz&choose=1").text
    chosen = browser.get(f"{location}?app=sandbox&picked=1")
    assert "Continue to Sandbox Tasks" in chosen.text and "Choose another app" in chosen.text


def test_choosing_works_in_a_frame_by_forms_only(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]), "&hideClose=true")
    fields = {**hidden_fields(page.text), "app": "sandbox", "choose": ""}
    chosen = browser.post("/_static/connect", fields)
    assert (
        "Continue to Sandbox Tasks" in chosen.text and policy(chosen)["frame-ancestors"] == "https://app.acme.example"
    )
    assert "data-post-close" not in chosen.text  # hideClose travels along


@pytest.mark.parametrize(
    ("app", "status", "words"),
    [
        ("nothing_like_it", 404, "There is no such app"),
        ("http", 200, "No account is needed"),
        ("github", 409, "has no OAuth client at GitHub"),
        (quote('"><script>alert(1)</script>'), 404, "There is no such app"),
    ],
)
def test_an_app_that_cannot_be_connected_says_why(world: Any, browser: Any, app: str, status: int, words: str) -> None:
    page = browser.open(world.token(), f"&connectLink=true&app={app}")
    assert page.status_code == status and words in page.text and "<script>alert" not in page.text


def test_the_operator_is_led_to_where_a_client_is_added(world: Any, browser: Any) -> None:
    page = browser.open(world.token(), "&connectLink=true&app=github&language=de")
    assert '<html lang="de"' in page.text and "Für den Betreiber" in page.text
    assert 'href="/apps/github/setup"' in page.text
    assert "Homepage URL" not in page.text and "patchbay oauth-app" not in page.text  # no English, no commands


def test_access_is_a_choice_in_plain_words(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    assert "Full access" in page.text and "Read only" in page.text
    assert "See projects, their fields and tasks" in page.text
    chosen = browser.open(world.token(), "&connectLink=true&app=sandbox&oauthScopeProfile=read_only")
    assert re.search(r'value="read_only" checked', chosen.text)


def test_a_loopback_alias_is_led_to_the_public_name(world: Any, browser: Any) -> None:
    url = f"/_static/connect.html?token={world.token()}&app=sandbox"
    answer = browser.client.get(url, base_url="http://127.0.0.1:8600")
    assert answer.status_code == 303 and answer.headers["Location"] == f"http://localhost:8600{url}"


def test_the_dashboards_own_people_are_named_by_their_address(world: Any, browser: Any) -> None:
    person = users.create(
        world.service.store, world.service.clock, email="ada@example.com", password="analytical engine", role="member"
    )
    page = browser.open(world.token(person.id)).text
    assert "ada@example.com" in page and person.id not in page
    assert "<b>u_nobody</b>" in browser.open(world.token("u_nobody")).text


def test_only_a_foreign_way_back_is_announced(world: Any, browser: Any) -> None:
    foreign = browser.open(world.token(success_redirect_uri="https://shop.example/done")).text
    assert "Afterwards you go back to shop.example." in foreign
    ours = browser.open(world.token(success_redirect_uri="http://localhost:8600/accounts/connected")).text
    assert "Afterwards" not in ours


def test_the_projects_own_logo_stands_for_it(world: Any, browser: Any, project: Any) -> None:
    assert f"/v1/connect/projects/{project.id}/logo" not in browser.open(world.token()).text
    project_logos.put(world.service, project.id, b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(20))
    page = browser.open(world.token()).text
    assert f'src="/v1/connect/projects/{project.id}/logo?v={world.clock()}"' in page


DONE = "This link was already used"


def test_one_success_uses_the_link_up_and_the_api_continues(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=["https://app.acme.example"])
    page = browser.open(token)
    browser.callback(page)
    (account,) = world.accounts()
    for again in (browser.open(token), browser.get(page.request.path), browser.get(f"{page.request.path}?again=1")):
        assert again.status_code == 200 and f'data-account="{account.id}"' in again.text
    for other in (world.browser().open(token), browser.frame(token), browser.frame(token, "&app=sandbox_basic")):
        assert other.status_code == 409 and DONE in other.text and "data-start" not in other.text
        assert "Write to" not in other.text, "one next step: a new link"
    live = connect_tokens.verify(world.service, token)
    app = world.service.app("sandbox_keys")
    connections.connect_with_keys(world.service, live, app, {"api_key": world.sandbox.key()})
    assert len(world.accounts()) == 2


def test_a_frame_that_is_reloaded_after_its_success_shows_it(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=["https://app.acme.example"])
    browser.callback(browser.frame(token), window=True)
    (account,) = world.accounts()
    again = browser.frame(token)
    assert again.status_code == 200 and f'data-account="{account.id}"' in again.text
    other = world.browser().open(token)
    assert other.status_code == 409 and DONE in other.text, "a page of its own is somebody else's"


def test_reconnecting_uses_the_link_up_too_and_a_failure_does_not(world: Any, browser: Any) -> None:
    token = world.token()
    page = browser.open(token)
    browser.callback(page, decision="deny")
    again = browser.get(f"{page.request.path}?again=1")
    browser.callback(again)
    (account,) = world.accounts()
    renewing = world.token()
    query = f"&connectLink=true&app=sandbox&accountId={account.id}"
    browser.callback(browser.open(renewing, query))
    assert DONE in world.browser().open(renewing, query).text
    assert len(world.accounts()) == 1


def test_a_sign_in_that_is_continued_elsewhere_ends_here(world: Any, browser: Any) -> None:
    token, other = world.token(), world.browser()
    begun = browser.start(browser.open(token))
    page = other.open(token)
    other.callback(page)
    back = browser.get(world.sandbox.decide(begun.headers["Location"]))
    shown = browser.get(back.headers["Location"]).text
    assert "You continued somewhere else" in shown and "Start again here" in shown
    assert len(world.accounts()) == 1
    assert [row["kind"] for row in world.service.store.all("SELECT kind FROM events")] == []
    assert f'data-account="{world.accounts()[0].id}"' in other.get(page.request.path).text


def slugs(page: str) -> list[str]:
    return re.findall(r'name="app" value="(\w+)">', page)


def test_pages_lead_to_every_app_and_those_that_need_setup_come_last(
    world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "APPS_SHOWN", 45)
    first = browser.open(world.token(), "&connectLink=true").text
    location = re.search(r'action="(/_static/connect/ls_\w+)"', first)[1]  # type: ignore[index]
    last = int(re.search(r"Page 1 of (\d+)", first)[1])  # type: ignore[index]
    shown = [browser.get(f"{location}?choose=1&page={number}").text for number in range(1, last + 1)]
    listed = [slug for page in shown for slug in slugs(page)]
    every = {app.slug for app in world.service.catalog.apps(listed)}
    assert len(listed) == len(every) > 150 and "http" not in every
    assert listed.index("zoho_crm") > listed.index("sandbox") and "Needs setup" not in shown[0]
    assert ">Next<" in shown[0] and ">Previous<" not in shown[0] and ">Next<" not in shown[-1]
    assert slugs(browser.get(f"{location}?choose=1&page=9999999").text) == slugs(shown[-1])
    assert slugs(browser.get(f"{location}?choose=1&page=-x").text) == slugs(first)


def test_a_search_goes_along_to_the_next_page_in_a_frame(
    world: Any, browser: Any, hidden_fields: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "APPS_SHOWN", 5)
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]), "").text
    searched = browser.post("/_static/connect", {**hidden_fields(page), "choose": "1", "page": "", "q": "google"}).text
    further = browser.post("/_static/connect", hidden_fields(re.split(">Next<", searched)[0])).text
    assert "Page 2 of" in further and not {*slugs(searched)} & {*slugs(further)}
    assert 'name="q" value="google"' in further
