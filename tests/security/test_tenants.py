"""What belongs to another user, project or environment answers byte for byte like what is not there.

Every account route for every kind of token stands in tests/service/api/test_tenancy.py. Here: the dashboard's own
routes with two people, the Connect Link, reconnecting, and all the other places where a foreign id can be named.
"""

import json
import re
from typing import Any

import requests

from tests.fakes import thirdparty
from tests.fakes.browser import Browser
from tests.fakes.installation import Installation
from tests.fakes.tenants import Tenants, call_api, comparable, connected
from tests.fakes.thirdparty import GOOD_KEY
from webapp.kit.crypto import new_id
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.accounts import oauth_apps

ABSENT = "ses_00000000000000"


def dashboard_routes(installation: Installation) -> list[tuple[str, str]]:
    return [
        (method, rule.rule)
        for rule in installation.app.url_map.iter_rules()
        if rule.endpoint.startswith("dashboard.") and "<account_id>" in rule.rule
        for method in sorted((rule.methods or set()) & {"GET", "POST"})
    ]


def test_every_dashboard_route_of_an_account(tenants: Tenants, adas: Browser) -> None:
    found = re.search(r'name="csrf_token" value="([^"]+)"', adas.visit("/settings").text)
    assert found
    form = {"csrf_token": found[1], "name": "Mine now"}
    routes = dashboard_routes(tenants.installation)
    assert len(routes) >= 9

    def ask(method: str, rule: str, account_id: str, **headers: str) -> tuple[Any, ...]:
        path = rule.replace("<account_id>", account_id)
        page = adas.get(path, **headers) if method == "GET" else adas.post(path, form, **headers)
        return comparable(page, account_id)

    for method, rule in routes:
        for headers in ({}, {"HX_Request": "true", "HX_Request_Type": "partial"}):
            absent = ask(method, rule, new_id("apn"), **headers)
            assert absent[0] == 404, f"{method} {rule}: {absent}"
            for label, account in tenants.foreign.items():
                assert ask(method, rule, account.id, **headers) == absent, f"{method} {rule}, {label}"
    tenants.untouched()


def test_coming_back_from_the_link_with_a_foreign_account(tenants: Tenants, adas: Browser) -> None:
    absent_id = new_id("apn")
    absent = comparable(adas.get(f"/accounts/connected?account_id={absent_id}"), absent_id)
    for account in tenants.foreign.values():
        assert comparable(adas.get(f"/accounts/connected?account_id={account.id}"), account.id) == absent


def test_lists_show_ones_own_only(tenants: Tenants, adas: Browser) -> None:
    mine = connected(tenants.installation, tenants.installation.scene, tenants.ada.id)
    for path in ("/accounts", "/logs", "/apps", "/apps/acme_keys", "/accounts?app=acme_keys"):
        page = adas.visit(path)
        assert page.status == 200
        assert all(account.id not in page.text for account in tenants.foreign.values()), path
    assert mine.id in adas.visit("/accounts").text


def test_another_persons_browsers_cannot_be_signed_out(tenants: Tenants, adas: Browser) -> None:
    bobs = tenants.browser("bob@example.com")
    found = re.search(r"/settings/sessions/([^/\"]+)/end", tenants.browser("bob@example.com").visit("/settings").text)
    assert found
    foreign = adas.form("/settings", f"/settings/sessions/{found[1]}/end")
    absent = adas.form("/settings", f"/settings/sessions/{ABSENT}/end")
    assert (foreign.status, absent.status) == (404, 404)
    assert comparable(foreign, found[1]) == comparable(absent, ABSENT)
    assert bobs.visit("/accounts").url.endswith("/accounts")
    bobs.close()


def test_reconnecting_by_the_link(tenants: Tenants) -> None:
    browser = Browser(tenants.installation.url)
    token = tenants.installation.token(tenants.ada.id, allowed_origins=["https://app.example.com"])

    def ask(account_id: str) -> tuple[Any, ...]:
        link = tenants.installation.link(token, "acme_keys", accountId=account_id)
        return comparable(browser.frame(link), account_id)

    absent = ask(new_id("apn"))
    assert absent[0] == 404
    for label, account in tenants.foreign.items():
        assert ask(account.id) == absent, label
    tenants.untouched()
    browser.close()


def test_reconnecting_by_the_api(tenants: Tenants) -> None:
    token, server = tenants.installation.token(tenants.ada.id), tenants.installation.server_token()

    def ask(account_id: str, caller: str) -> tuple[int, bytes]:
        fields = {"app_slug": "acme_keys", "cfmap_json": json.dumps({"api_key": GOOD_KEY}), "connect_token": token}
        return call_api(tenants, "POST", "accounts", caller, json={**fields, "account_id": account_id})

    for caller in (token, server):
        absent = ask("apn_none", caller)
        assert absent[0] == 404
        assert {ask(account.id, caller) for account in tenants.foreign.values()} == {absent}
    tenants.untouched()


def test_validating_a_token_for_a_foreign_account(tenants: Tenants) -> None:
    token = tenants.installation.token(tenants.ada.id)

    def ask(account_id: str) -> bytes:
        address = f"{tenants.installation.url}/v1/connect/tokens/{token}/validate?account_id={account_id}"
        return requests.get(address, timeout=60).content

    assert json.loads(ask("apn_none"))["success"] is False
    assert {ask(account.id) for account in tenants.foreign.values()} == {ask("apn_none")}


def test_a_server_of_another_project(tenants: Tenants) -> None:
    """With its own project in the path, and the foreign account's id: every account route."""
    other = tenants.foreign["another project's"].scene
    client, _ = oauth_clients.create(tenants.installation.service, name="Theirs", project_id=other.project_id)
    headers = {
        "Authorization": f"Bearer {access_tokens.issue(tenants.installation.service, client, None).token}",
        "x-pd-environment": "development",
    }
    asked = 0
    for operation in OPERATIONS:
        if "<account_id>" not in operation.path:
            continue
        seen = set()
        for account_id in (
            "apn_none",
            tenants.foreign["another person's"].id,
            tenants.foreign["another environment's"].id,
        ):
            path = operation.path.replace("P/", f"/v1/connect/{other.project_id}/").replace("<account_id>", account_id)
            body = {"name": "Mine now"} if operation.body else None
            answer = requests.request(
                operation.method, tenants.installation.url + path, headers=headers, timeout=60, json=body
            )  # fmt: skip
            seen.add((answer.status_code, answer.content))
        assert len(seen) == 1 and seen.pop()[0] == 404, operation.name
        asked += 1
    assert asked >= 7
    tenants.untouched()


def test_users_and_clients_that_are_not_ones_own(tenants: Tenants) -> None:
    token, server = tenants.installation.token(tenants.ada.id), tenants.installation.server_token()
    foreign = oauth_apps.add(
        tenants.installation.service, app="acme", client_id="theirs", client_secret=thirdparty.CLIENT_SECRET,
        project_id=tenants.foreign["another project's"].scene.project_id,
    )  # fmt: skip
    pairs = [
        (f"users/{tenants.bob.id}/accounts", "users/nobody/accounts", token),
        (f"accounts?external_user_id={tenants.bob.id}", "accounts?external_user_id=nobody", token),
        (f"accounts?oauth_app_id={foreign.id}", "accounts?oauth_app_id=oa_none", token),
        (f"accounts?oauth_app_id={foreign.id}", "accounts?oauth_app_id=oa_none", server),
    ]
    for theirs, nobodys, caller in pairs:
        assert call_api(tenants, "GET", theirs, caller) == call_api(tenants, "GET", nobodys, caller), theirs

    def preset(oauth_app_id: str) -> tuple[int, bytes]:
        body = {"external_user_id": "x", "app_id": "acme", "oauth_app_id": oauth_app_id}
        return call_api(tenants, "POST", "tokens", server, json=body)

    assert preset(foreign.id) == preset("oa_none")
    assert preset(foreign.id)[0] == 400
    assert call_api(tenants, "DELETE", "apps/acme_keys/accounts", token) == (204, b"")
    tenants.untouched()
