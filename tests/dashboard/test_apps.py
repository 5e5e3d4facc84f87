"""The Apps page and the page of one app."""

import json
import re
from typing import Any

import pytest

from tests.dashboard.conftest import PASSWORD, SET_UP
from tests.dashboard.fake_components import ACCOUNT, install
from webapp.kit.clock import SECOND
from webapp.people import users


def names(html: str) -> list[str]:
    return re.findall(r'<a class="name"[^>]*>([^<]*)</a>', html)


def test_connected_first_with_badges_and_what_is_broken(busy: Any) -> None:
    page = busy.signed_in().get("/apps").text
    assert names(page) == ["GitHub", "Stripe", "Schedule", "Slack"]
    assert re.findall(r"<h2>([^<]+)</h2>\s*<span>(\d)</span>", page) == [
        ("Connected", "2"), ("Ready to connect", "1"), ("Needs setup", "1"),
    ]  # fmt: skip
    assert "3 of 4 can be used now." in page
    assert "2 connected" in page
    assert page.count("Needs you") == 1
    assert "Billing (Stripe) needs you." in page
    assert "Stripe refused the key." in page
    assert 'action="/accounts/apn_000002x/reconnection"' in page
    assert "No account needed" in page
    assert "All 4 apps shown" in page
    assert "1 needs you" in page


def test_a_card_counts_what_the_app_can_do(busy: Any) -> None:
    for app in busy.connect.apps:
        if app["name_slug"] == "github":
            app["patchbay"] |= {"actions": 1, "triggers": 4}
    page = busy.signed_in().get("/apps").text
    assert '<span class="push">1 action, 4 triggers</span>' in page
    assert "0 " not in "".join(re.findall(r'<span class="push">([^<]*)</span>', page))


def test_a_card_tells_apps_that_were_added_here(busy: Any) -> None:
    for app in busy.connect.apps:
        app.setdefault("patchbay", {})["added"] = app["name_slug"] == "github"
    page = busy.signed_in().get("/apps").text
    assert re.findall(r"<small>([^<]* · Added here)</small>", page) == ["By signing in · Added here"]


def test_search_category_and_sort_are_in_the_address(busy: Any) -> None:
    browser = busy.signed_in()
    assert names(browser.get("/apps?q=git").text) == ["GitHub"]
    chips = browser.get("/apps?category=appcat_dev&q=").text
    assert names(chips) == ["GitHub", "Schedule"]
    assert "Developer tools <b>2</b>" in chips
    assert "Empty one" not in chips
    assert names(browser.get("/apps?sort=name-desc").text) == ["Stripe", "GitHub", "Schedule", "Slack"]
    assert names(browser.get("/apps?sort=nonsense&shown=-3&page=x").text) == ["GitHub", "Stripe", "Schedule", "Slack"]


def test_one_state_alone_with_the_counts_of_all(busy: Any) -> None:
    browser = busy.signed_in()
    page = browser.get("/apps?state=setup")
    assert names(page.text) == ["Slack"]
    segments = re.findall(r'<nav class="seg full".*?</nav>', page.text, re.DOTALL)[0]
    assert re.findall(r"([A-Z][a-z ]+) <b>(\d)</b>", segments) == [
        ("All", "4"), ("Connected", "2"), ("Ready", "1"), ("Needs setup", "1"),
    ]  # fmt: skip
    assert "group-head" not in page.text
    part = browser.get("/apps?state=connected", htmx=True)
    assert names(part.text) == ["GitHub", "Stripe"]
    assert part.headers["HX-Push-Url"] == "/apps?state=connected"
    assert 'data-announce="2 apps"' in part.text
    assert 'data-announce="No app matches"' in browser.get("/apps?q=zzz", htmx=True).text
    assert names(browser.get("/apps?state=nonsense").text) == ["GitHub", "Stripe", "Schedule", "Slack"]


def test_many_categories_are_folded(busy: Any) -> None:
    for number in range(14):
        busy.connect.categories.append({"id": f"appcat_{number}", "name": f"Kind {number:02}", "count": number + 3})
    browser = busy.signed_in()
    page = browser.get("/apps").text
    chips, folded = (
        re.search(r'aria-label="Category".*?<details class="more-chips">(.*?)</details>', page, re.DOTALL),
        "",
    )
    assert chips is not None
    folded = chips[1]
    assert "5 more" in folded and "Kind 00" in folded and "Kind 13" not in folded
    for address, current in {"?category=appcat_0": "Kind 00", "": "All", "?sort=name&shown=48": "All"}.items():
        page = browser.get(f"/apps{address}").text
        assert bool(re.search(r'<details class="more-chips"\s+open>', page)) is (current == "Kind 00")
        links = re.findall(r'<a class="chip"([^>]*)>(\w[\w ]+)', page)
        assert [name.strip() for facts, name in links if "aria-current" in facts] == [current]
        assert all(("sort=name" in facts) is ("sort=name" in address) and "shown" not in facts for facts, _ in links)


def test_show_more_says_how_many_and_appends_for_htmx(stage: Any) -> None:
    for number in range(60):
        stage.connect.add_app(f"more-{number:02}", f"More {number:02}")
    browser = stage.signed_in()
    page = browser.get("/apps").text
    assert "First 24 of 64 apps shown" in page
    ((plain, by_htmx),) = re.findall(r'class="btn" href="([^"]+)" hx-get="([^"]+)"', page)
    assert plain == "/apps?shown=48"
    longer = browser.get(plain).text
    assert len(names(longer)) == 48
    assert names(longer)[:24] == names(page)
    part = browser.get(by_htmx.replace("&amp;", "&"), htmx=True)
    assert names(part.text) == names(longer)[24:]
    assert part.text.count("data-focus") == 1
    assert "<html" not in part.text
    assert part.headers["HX-Push-Url"] == "/apps?shown=48"
    assert "All 64 apps shown" in browser.get("/apps?shown=72").text


def test_htmx_gets_the_results_and_history_gets_the_page(busy: Any) -> None:
    browser = busy.signed_in()
    part = browser.get("/apps?q=git&category=&sort=featured", htmx=True)
    assert "<html" not in part.text
    assert names(part.text) == ["GitHub"]
    assert part.headers["HX-Push-Url"] == "/apps?q=git"
    assert "HX-Request" in part.headers["Vary"]
    for extra in ({"HX-History-Restore-Request": "true"}, {"HX-Request-Type": "full"}):
        whole = browser.client.get("/apps?q=git", headers={"HX-Request": "true"} | extra)
        assert "<html" in whole.text
        assert 'aria-label="Main"' in whole.text


def test_typing_does_not_spend_the_account_limit(busy: Any) -> None:
    browser = busy.signed_in()
    browser.get("/apps")
    busy.connect.seen.clear()
    for text in ("g", "gi", "git"):
        browser.get(f"/apps?q={text}", htmx=True)
    assert not busy.connect.calls("/accounts")


def test_apps_are_listed_once_for_all_for_a_few_seconds_or_until_one_changes(busy: Any) -> None:
    browser, board = busy.signed_in(), busy.app.extensions["patchbay_dashboard"]
    for change in (lambda: None, lambda: busy.clock.advance(10 * SECOND), board.forget_apps):
        change()
        busy.connect.seen.clear()
        shown = {tuple(names(browser.get("/apps").text)) for _ in range(3)}
        lists = [call[3]["QUERY_STRING"] for call in busy.connect.calls("/v1/connect/apps")]
        assert len(shown) == 1
        assert lists and len(set(lists)) == len(lists)


def test_three_kinds_of_nothing(stage: Any) -> None:
    browser = stage.signed_in()
    none = browser.get("/apps?q=<script>x</script>")
    assert none.status_code == 200
    assert "No app matches" in none.text
    assert "<script>x" not in none.text
    stage.connect.down = True
    down = browser.get("/apps")
    assert down.status_code == 503
    assert down.headers["Retry-After"] == "5"
    assert "Apps can’t be shown right now" in down.text
    assert 'href="/apps"' in down.text
    stage.connect.down = False
    stage.connect.apps.clear()
    assert "No apps yet" in browser.get("/apps").text


def test_page_stands_when_only_the_accounts_are_missing(busy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.dashboard import dashboard
    from webapp.dashboard.client.transport import ServiceDown

    def down(*_: object, **__: object) -> None:
        raise ServiceDown

    monkeypatch.setattr(dashboard, "read_accounts", down)
    page = busy.signed_in().get("/apps")
    assert page.status_code == 200
    assert "Your accounts can’t be shown right now." in page.text
    assert names(page.text)


def test_service_without_extensions_serves_the_pages(busy: Any) -> None:
    busy.connect.extensions = False
    browser = busy.signed_in()
    for url in ("/apps", "/apps/github", "/apps/slack", "/accounts", "/accounts/apn_000000x"):
        page = browser.get(url)
        assert page.status_code == 200, url
    assert "History" not in page.text
    assert "Used by" not in page.text
    assert "Connect another" in browser.get("/apps/github").text
    apps = browser.get("/apps?state=setup").text
    assert names(apps) == ["GitHub", "Slack", "Stripe", "Schedule"]
    assert "group-head" not in apps and "Needs setup" not in apps


def test_app_with_accounts(busy: Any) -> None:
    page = busy.signed_in().get("/apps/github").text
    assert "Connect another" in page
    assert "See and change your repositories" in page
    assert page.count('class="row-link"') == 2
    assert page.index("Retrying") < page.index("Working")
    assert 'rel="noopener noreferrer"' in page


def test_an_owner_reads_how_an_app_is_set_up(stage: Any) -> None:
    browser = stage.signed_in()
    assert ">Set up</span>" in browser.get("/apps").text
    page = browser.get("/apps/slack").text
    assert "Set up Slack for everybody" in page
    for fact in ("<p>Make an app.</p>", 'action="/apps/slack/setup"', 'href="https://api.slack.com/apps"'):
        assert fact in page
    assert re.search(r">\s*Set up\s*</a>", page)
    assert "patchbay oauth-app" not in page
    assert 'action="/apps/slack/connect"' not in page


def test_what_is_known_of_an_app_stands_beside_something(stage: Any) -> None:
    def about(page: str) -> tuple[int, bool]:
        columns = [part for part in page.split('<div class="split side">')[1:] if "about-title" in part]
        return len(columns), page.index("notes-title") < page.index("about-title") if "notes-title" in page else False

    browser = stage.signed_in()
    assert about(browser.get("/apps/slack").text) == (1, True)  # beside the form, below its notes
    users.create(stage.store, stage.clock, email="marc@example.com", password=PASSWORD, role="member")
    page = stage.signed_in("marc@example.com").get("/apps/slack").text
    assert "about-title" in page and about(page) == (0, False)  # alone, as wide as all else


def test_what_is_needed_and_where_it_is_documented(stage: Any) -> None:
    fields = [{"name": "host", "label": "Host"}, {"name": "port", "label": "Port", "optional": True}]
    extras = {"ready": True, "docs_url": "https://www.npmjs.com/package/@acme/piece-shop"}
    stage.connect.add_app("shop", "Shop", "keys", patchbay=extras, custom_fields_json=json.dumps(fields))
    page = stage.signed_in().get("/apps/shop").text
    assert "Host" in page and "Port" not in page
    assert "Its page on npm" in page and "Shop API" not in page


def test_an_owner_adds_a_client_where_the_project_has_none(stage: Any) -> None:
    ready = {"ready": True, "set_up": SET_UP}
    stage.connect.add_app("asana", "Asana", patchbay=ready)
    stage.connect.add_app("zoom", "Zoom", patchbay=ready, oauth_app_id="oa_1")
    browser = stage.signed_in()
    assert "Add one of your own" in browser.get("/apps/asana").text
    assert "Add one of your own" not in browser.get("/apps/zoom").text


def test_a_member_reads_who_can_set_an_app_up(stage: Any) -> None:
    users.create(stage.store, stage.clock, email="marc@example.com", password=PASSWORD, role="member")
    member = stage.signed_in("marc@example.com")
    assert "alice@example.com can set it up" in member.get("/apps").text
    page = member.get("/apps/slack").text
    assert "Slack isn’t set up yet." in page
    assert "alice@example.com can set it up, once for everybody." in page
    assert "callback" not in page
    users.create(stage.store, stage.clock, email="olga@example.com", password=PASSWORD, role="owner")
    assert re.search(r"(alice|olga)@\S+ or (alice|olga)@\S+ can set it up", member.get("/apps").text)
    users.create(stage.store, stage.clock, email="third@example.com", password=PASSWORD, role="owner")
    assert "An owner can set it up" in member.get("/apps").text


def test_app_without_accounts_says_so(stage: Any) -> None:
    page = stage.signed_in().get("/apps/schedule").text
    assert "No account is needed" in page
    assert "/connect" not in page
    assert not stage.connect.calls("/accounts?app=schedule")


def test_another_way_to_connect_the_same_is_named(stage: Any) -> None:
    ways = [{"name_slug": "globex_oauth", "name": "Globex (sign-in)", "ready": False}]
    stage.connect.add_app("globex", "Globex", auth_type="keys", patchbay={"ready": True, "ways": ways})
    page = stage.signed_in().get("/apps/globex").text
    assert re.search(
        r'Another way</dt>\s*<dd[^>]*>\s*<div>\s*<a class="link" href="/apps/globex_oauth">Globex \(sign-in\)</a>', page
    )


HOSTED = {"url": "https://mcp.globex.example/mcp", "connects": "registers"}


def test_an_app_that_needs_setup_begins_with_the_server_that_needs_none(stage: Any) -> None:
    """What each of a provider's two can do is said on both pages, and nothing stands in the way of the one."""
    server = {"name_slug": "globex_mcp", "name": "Globex (MCP)", "ready": True, "auth_type": "oauth", "actions": 0}
    client = {
        "name_slug": "globex",
        "name": "Globex",
        "ready": False,
        "auth_type": "oauth",
        "actions": 9,
        "triggers": 3,
    }
    needs = {"ready": False, "actions": 9, "triggers": 3, "ways": [{**server, "connects": "registers"}]}
    stage.connect.add_app("globex", "Globex", auth_type="oauth", patchbay=needs)
    ready = {"ready": True, "connects": "registers", "server": HOSTED, "actions": 0, "triggers": 0, "ways": [client]}
    stage.connect.add_app("globex_mcp", "Globex (MCP)", auth_type="oauth", patchbay=ready)
    browser = stage.signed_in()
    for slug, connects in (("globex", True), ("globex_mcp", False)):
        ways = browser.get(f"/apps/{slug}").text.split("What each can do</h2>")[1].split("</section>")[0]
        first, second = ways.index("Globex (MCP)"), ways.index("9 actions, 3 triggers")
        assert first < ways.index("Nothing to set up") < ways.index("Needs setup") < second
        assert ('action="/apps/globex_mcp/connect"' in ways) is connects
        assert "which are read once the first account is connected" in ways
    assert "servers/new?mcp=https://mcp.globex.example/mcp" in browser.get("/apps/globex_mcp").text
    cards = browser.get("/apps?q=globex").text
    assert re.search(r"By signing in · MCP server.*?Nothing to set up.*?Needs setup", cards, re.DOTALL)


@pytest.mark.parametrize("role", ["owner", "member"])
def test_what_has_changed_at_a_server_is_said_and_shown_to_owners(stage: Any, role: str) -> None:
    server = {**HOSTED, "changed": ["globex_mcp-search", "globex_mcp-send"]}
    facts = {"ready": True, "connects": "registers", "server": server, "actions": 9, "triggers": 0, "ways": []}
    stage.connect.add_app("globex_mcp", "Globex (MCP)", auth_type="oauth", patchbay=facts)
    if role == "member":
        users.create(stage.store, stage.clock, email="marc@example.com", password=PASSWORD, role="member")
    page = stage.signed_in(*(["marc@example.com"] if role == "member" else [])).get("/apps/globex_mcp").text
    assert "2 of its tools have changed since they were read." in page
    assert ("See what changed" in page) is (role == "owner")


def test_tools_of_a_server_without_accounts_wait_for_an_owner(stage: Any) -> None:
    server = {"ready": False, "connects": "none", "server": {**HOSTED, "connects": "none"}, "actions": 0, "ways": []}
    stage.connect.add_app("wiki", "Wiki", auth_type="none", patchbay=server)
    page = stage.signed_in().get("/apps/wiki").text
    assert "Wiki needs no account." in page and "servers/new?mcp=https://mcp.globex.example/mcp" in page
    assert "No account is needed" not in page
    users.create(stage.store, stage.clock, email="marc@example.com", password=PASSWORD, role="member")
    page = stage.signed_in("marc@example.com").get("/apps/wiki").text
    assert "alice@example.com can add its tools, once for everybody." in page and "servers/new" not in page


def test_an_app_that_is_connected_by_either_says_so(stage: Any) -> None:
    server = {"name_slug": "globex_mcp", "name": "Globex (MCP)", "ready": True, "connects": "registers"}
    more = {"ready": True, "signs_in": True, "ways": [server]}
    stage.connect.add_app("globex", "Globex", auth_type="keys", patchbay=more)
    # In what is known about it, and beside its provider's server.
    assert stage.signed_in().get("/apps/globex").text.count("By signing in, or with a key") == 2


def test_key_app_names_what_is_needed(stage: Any) -> None:
    page = stage.signed_in().get("/apps/stripe").text
    assert "Secret key" in page
    assert 'action="/apps/stripe/connect"' in page


@pytest.mark.parametrize(
    ("code", "says"),
    [("access_denied", "access was not given"), ("wrong_account", "another GitHub account"), ("<b>", "not finished")],
)
def test_endings_are_named(stage: Any, code: str, says: str) -> None:
    page = stage.signed_in().get(f"/apps/github?error={code}").text
    assert says in page
    assert "<b>&" not in page
    assert "?error=" not in page
    assert re.search(r'role="alert">.*?action="/apps/github/connect".*?Connect again', page, re.DOTALL)
    again = stage.signed_in().get("/apps/slack?error=no_oauth_client").text  # which nobody can connect yet
    assert "Connect again" not in again


def test_what_an_app_may_ask_for_stands_by_profile_and_unticked(stage: Any) -> None:
    github = next(app for app in stage.connect.apps if app["name_slug"] == "github")
    github["scope_profiles"] = [{"name": "full", "scopes": ["repo", "gist"]}, {"name": "read_only", "scopes": ["x"]}]
    page = stage.signed_in().get("/apps/github").text
    full, read_only = page.split("<details", 2)[1:]
    assert "Full" in full and "See and change your repositories" in full and "gist" in full
    assert "Read only" in read_only
    assert '<ul class="grants asked">' in full


def test_an_app_from_npm_says_so(busy: Any) -> None:
    origin = {"package": "@acme/<b>piece", "version": "1.0.0", "licence": "MIT", "author": ""}
    for app in busy.connect.apps:
        if app["name_slug"] == "github":
            app["patchbay"] |= {"pieces": [origin]}
    browser = busy.signed_in()
    assert "Added from npm: @acme/&lt;b&gt;piece, 1.0.0, MIT" in browser.get("/apps/github").text
    assert "Added from npm" not in browser.get("/apps/slack").text


def test_a_search_finds_actions_and_triggers_too(stage: Any) -> None:
    studio = install(stage.connect)
    for number in range(9):
        studio.add(f"tasks-create-task-{number}", [ACCOUNT], name=f"Create task <{number}>")
    studio.add("gone-create-task", [ACCOUNT | {"app": "gone"}], name="Create task of an app that is not there")
    browser = stage.signed_in()
    page = browser.get("/apps?q=create+task").text
    assert "No app matches" not in page.partition("<main")[2].replace("No app matches, ", "")
    assert 'href="/apps/tasks/actions/tasks-create-task"' in page and "Create task &lt;0&gt;" in page
    assert "First 6 of 11 shown. Add a word, such as the name of the app." in page
    assert not re.search(r'aria-label="(State|Category)"|Has actions|<select', page), "no app to choose by them"
    sorted_by_name = browser.get("/apps?q=create+task&sort=name", htmx=True).text
    assert '<input type="hidden" name="sort" value="name" form="filters">' in sorted_by_name, "the next search keeps it"
    assert "Has actions" in browser.get("/apps?q=create+task&has_actions=1").text, "what was chosen can be taken back"
    part = browser.get("/apps?q=new+task", htmx=True).text
    assert 'href="/apps/tasks/triggers/tasks-new-task"' in part and "Tasks · trigger" in part
    for nothing in ("/apps", "/apps?q=c", "/apps?q=zzz"):
        assert "Actions and triggers</h2>" not in browser.get(nothing).text
    stage.connect.extensions = False
    assert "No app matches" in browser.get("/apps?q=zzz").text


def test_what_a_search_finds_of_a_connected_app_comes_first(stage: Any) -> None:
    studio = install(stage.connect)
    for number in range(9):
        studio.add(f"tasks-create-task-{number}", [ACCOUNT], name=f"Create task {number}")
    studio.add("github-create-task", [ACCOUNT | {"app": "github"}], name="Create task list")
    stage.connect.add_account(stage.alice.id, "github")
    browser = stage.signed_in()
    first = r'<a class="row-link" href="(/apps/[^"]+)"'
    assert re.findall(first, browser.get("/apps?q=create+task").text)[0] == "/apps/github/actions/github-create-task"
    assert "/apps/github/actions/github-create-task" in browser.get("/search?q=create+task").text
