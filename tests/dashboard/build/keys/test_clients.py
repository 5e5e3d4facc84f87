"""Scopes in plain words.

OAuth clients on API & keys: what each role may do, secrets shown once, the overlap, and what deleting asks.
"""

import re
from typing import Any

import pytest
from joserfc import jwk

from tests.dashboard.embedded import BASE, Embedded
from webapp.dashboard.build.keys.clients import WORDS, in_words
from webapp.dashboard.client.build import projects as listed
from webapp.dashboard.dashboard import KEY
from webapp.kit.clock import DAY, HOUR, FakeClock
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.access.oauth_clients import OAuthClient
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import projects

URL = "/build/keys"
LIST = f"{URL}/clients"
FORM = {"name": "Billing worker", "project_id": "", "access": "some", "scopes": ["connect:actions:*"]}


def test_every_scope_has_words() -> None:
    assert set(WORDS) == token_scopes.KNOWN - {token_scopes.ALL, token_scopes.CONNECT}


@pytest.mark.parametrize(
    ("granted", "words"),
    [
        ((token_scopes.ALL, token_scopes.PROXY), "Everything"),
        ((token_scopes.PROXY, token_scopes.CONNECT), "All of Connect"),
        ((token_scopes.ACTIONS, token_scopes.USAGE_READ), "Run actions · See usage"),
        (("connect:new",), "connect:new"),
        ((), "Nothing"),
    ],
)
def test_what_scopes_allow_together(granted: tuple[str, ...], words: str) -> None:
    assert in_words(granted) == words


@pytest.fixture
def client(office: Embedded) -> OAuthClient:
    return oauth_clients.create(office.service, name="Reports", scope="connect:accounts:read connect:usage:read")[0]


def row_of(page: str, client: OAuthClient) -> str:
    return str(re.findall(rf"<tr>(?:(?!</tr>).)*{client.id}.*?</tr>", page, re.DOTALL)[-1])


def secret_on(page: str) -> str:
    (secret,) = re.findall(r'id="secret".*?<code>(\w{43})</code>', page, re.DOTALL)
    return str(secret)


def test_a_client_is_made_and_its_secret_shown_until_it_was_kept(office: Embedded) -> None:
    browser = office.browser()
    assert "All of Connect" in browser.get(f"{URL}/clients/new")
    page = browser.follow(f"{URL}/clients", FORM | {"name": "Night worker"})
    secret = secret_on(page)
    assert secret_on(browser.get(LIST)) == secret, "a reload shows it again"
    assert secret not in office.browser().get(f"{URL}/clients/new")
    assert secret not in office.browser("developer").get(LIST)
    assert secret not in browser.follow(f"{URL}/secret/kept", {"section": "clients"})
    made = next(row for row in oauth_clients.every(office.service.store) if row.name == "Night worker")
    assert (made.scope, made.project_id) == ("connect:actions:*", None)
    assert oauth_clients.authenticate(office.service, made.id, secret) == made


def test_every_project_of_many_can_be_chosen(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "MOST", 1)
    shop = projects.create(office.service, name="Shop")
    office.app.extensions[KEY].projects.clear()
    assert f'<option value="{shop.id}">Shop</option>' in office.browser().get(f"{URL}/clients/new")
    oauth_clients.create(office.service, name="Till", project_id=shop.id)
    assert re.search(r"Till.*?Shop", office.browser().get(LIST), re.DOTALL)


def test_a_secret_is_not_kept_for_longer_than_minutes(office: Embedded, office_clock: FakeClock) -> None:
    browser = office.browser()
    secret = secret_on(browser.follow(f"{URL}/clients", FORM))
    office_clock.advance(HOUR)
    assert secret not in browser.get(LIST)


def test_rows_say_what_clients_may_do_and_when_they_called(
    office: Embedded, client: OAuthClient, office_clock: FakeClock
) -> None:
    row = row_of(office.browser().get(LIST), client)
    assert "See accounts · See usage" in row and "All projects" in row and "Not yet" in row
    access_tokens.verify(office.service, access_tokens.issue(office.service, client, None).token)
    oauth_clients.flush_uses(office.service)
    office_clock.advance(2 * HOUR)
    assert "2 hours ago" in row_of(office.browser().get(LIST), client)


def test_both_secrets_work_until_the_old_one_is_ended(office: Embedded, client: OAuthClient) -> None:
    browser, path = office.browser(), f"{URL}/clients/{client.id}"
    assert "A new secret for “Reports”?" in browser.get(f"{path}/rotation")
    page = browser.follow(f"{path}/rotation", {"overlap": str(DAY // 1000)})
    assert oauth_clients.authenticate(office.service, client.id, secret_on(page))
    row = row_of(page, client)
    assert "Two active secrets" in row and "in 1 day" in row
    rotated = oauth_clients.get(office.service.store, client.id)
    assert rotated.old_secret_ends_at == rotated.rotated_at + DAY
    page = browser.follow(f"{path}/old-secret/end")
    assert "Two active secrets" not in row_of(page, client) and "has ended" in page
    assert oauth_clients.get(office.service.store, client.id).old_secret_ends_at is None


@pytest.mark.parametrize(("overlap", "kept"), [("0", 0), ("3600", HOUR), ("7", DAY), ("", DAY)])
def test_the_overlap_is_one_of_those_that_are_offered(
    office: Embedded, client: OAuthClient, overlap: str, kept: int
) -> None:
    office.browser().send(f"{URL}/clients/{client.id}/rotation", {"overlap": overlap})
    rotated = oauth_clients.get(office.service.store, client.id)
    assert (rotated.old_secret_ends_at or rotated.rotated_at) - rotated.rotated_at == kept


def test_one_that_is_in_use_is_deleted_by_somebody_who_says_that_they_know(
    office: Embedded, client: OAuthClient
) -> None:
    browser, path = office.browser(), f"{URL}/clients/{client.id}/removal"
    assert "It has not been used yet." in browser.get(path)
    access_tokens.verify(office.service, access_tokens.issue(office.service, client, None).token)
    oauth_clients.flush_uses(office.service)
    assert "It is in use." in browser.get(path)
    refused = browser.send(path)
    assert refused.status_code == 422 and "Confirm that you understand" in refused.text
    assert "is deleted" in browser.follow(path, {"known": "1"})
    assert client.id not in browser.get(LIST)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"name": " "}, "Enter a name."), ({"scopes": []}, "Choose at least"), ({"scopes": ["*"]}, "Choose at least")],
)
def test_a_form_that_lacks_something_says_so(office: Embedded, changes: dict[str, Any], sentence: str) -> None:
    answer = office.browser().send(f"{URL}/clients", FORM | changes)
    assert answer.status_code == 422 and sentence in answer.text


def test_a_developer_gives_nobody_more_than_they_have(office: Embedded, client: OAuthClient) -> None:
    """A client that may do everything could make its holder an owner."""
    powerful, _ = oauth_clients.create(office.service, name="Root")
    browser = office.browser("developer")
    assert "also people" not in browser.get(f"{URL}/clients/new")
    for project in ("", office.project.id):
        assert browser.send(f"{URL}/clients", FORM | {"access": "*", "project_id": project}).status_code == 403
    in_project, _ = oauth_clients.create(office.service, name="Root of one", project_id=office.project.id)
    assert browser.send(f"{URL}/clients/{in_project.id}/removal", {"known": "1"}).status_code == 403
    for verb in ("rotation", "removal", "old-secret/end"):
        assert browser.send(f"{URL}/clients/{powerful.id}/{verb}", {"known": "1"}).status_code == 403
    assert oauth_clients.get(office.service.store, powerful.id) == powerful
    assert browser.send(f"{URL}/clients/{client.id}/rotation").status_code == 303


def test_a_developer_s_client_acts_for_any_user_and_the_audit_says_who_made_it(office: Embedded) -> None:
    browser = office.browser("developer")
    browser.send(f"{URL}/secret/kept")
    assert "for any of your users" in browser.get(f"{URL}/clients/new")
    browser.send(f"{URL}/clients", FORM | {"name": "Any user", "access": "connect:*"})
    client = next(client for client in oauth_clients.every(office.service.store) if client.name == "Any user")
    assert client.scope == "connect:*"
    token = access_tokens.issue(office.service, client, None).token
    made = office.app.test_client().post(
        f"/v1/connect/{office.project.id}/tokens",
        base_url=BASE,
        json={"external_user_id": "somebody"},
        headers={"Authorization": f"Bearer {token}", "x-pd-environment": "development"},
    )
    assert made.status_code == 200
    sql = "SELECT actor_kind, actor, sentence FROM audit WHERE subject_id = :id AND verb = 'created'"
    (entry,) = office.service.store.all(sql, {"id": client.id})
    assert (entry["actor_kind"], entry["actor"]) == ("person", office.people["developer"].id)
    assert "connect:*" in entry["sentence"]


def test_members_and_absent_clients_meet_nothing(office: Embedded, client: OAuthClient) -> None:
    member, owner = office.browser("member"), office.browser()
    for path in ("", "/clients/new", f"/clients/{client.id}/rotation", f"/clients/{client.id}/removal"):
        member.get(URL + path, code=404)
    for path in ("/clients", "/secret/kept", f"/clients/{client.id}/rotation", f"/clients/{client.id}/removal"):
        assert member.send(URL + path, FORM).status_code == 404
    assert "API &amp; keys" not in member.get("/settings")
    owner.get(f"{URL}/clients/absent/rotation", code=404)


def test_the_audit_names_who_did_it(office: Embedded, client: OAuthClient) -> None:
    office.browser("developer").send(f"{URL}/clients/{client.id}/rotation")
    sql = "SELECT actor_kind, actor FROM audit WHERE subject_id = :id AND verb = 'rotated'"
    (entry,) = office.service.store.all(sql, {"id": client.id})
    assert (entry["actor_kind"], entry["actor"]) == ("person", office.people["developer"].id)


def test_a_client_with_a_key_gets_no_secret(office: Embedded) -> None:
    browser, key = office.browser(), jwk.ECKey.generate_key("P-256")
    browser.send(f"{URL}/secret/kept")
    refused = browser.send(f"{URL}/clients", FORM | {"public_key": key.as_pem(private=True).decode()})
    assert refused.status_code == 422 and "This is a private key" in refused.text
    page = browser.follow(f"{URL}/clients", FORM | {"public_key": key.as_pem(private=False).decode()})
    assert "Uses a private key" in page and 'id="secret"' not in page
