"""Two people who share an installation, and accounts that are not theirs; what an answer says, for comparing two."""

import json
import re
from dataclasses import dataclass
from typing import Any

import requests

from tests.fakes.browser import Browser, Page
from tests.fakes.installation import Installation
from tests.fakes.thirdparty import GOOD_KEY, ThirdParty
from webapp.kit.clock import SECOND, FakeClock
from webapp.people import users
from webapp.people.users import User
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

PASSWORD = "a password of the tests"


@dataclass
class Tenants:
    """Ada and Bob, who share an installation; Bob, another project and another environment have accounts."""

    installation: Installation
    party: ThirdParty
    ada: User
    bob: User
    foreign: dict[str, Account]

    def browser(self, email: str) -> Browser:
        """Somebody's browser, signed in."""
        made = Browser(self.installation.url)
        answer = made.form("/sign-in", "/sign-in", email=email, password=PASSWORD)
        assert answer.status == 303, answer.text
        return made

    def untouched(self) -> None:
        """Nothing was changed, deleted or even asked about."""
        assert self.party.calls == []
        for account in self.foreign.values():
            assert accounts.get(self.installation.service.store, account.scene, account.id) == account


def create_tenants(installation: Installation, party: ThirdParty, clock: FakeClock) -> Tenants:
    """The tenants, with an account of each stranger's."""
    service = installation.service
    clock.advance(SECOND)  # the dashboard works in the project that was made first
    ada, bob = (
        users.create(service.store, installation.clock, email=f"{name}@example.com", password=PASSWORD, role=role)
        for name, role in (("ada", "owner"), ("bob", "member"))
    )
    other = projects.create(service, name="Other")
    scenes = {
        "another person's": (installation.scene, bob.id),
        "another environment's": (Scene(installation.project.id, "production"), ada.id),
        "another project's": (Scene(other.id, "development"), ada.id),
    }
    foreign = {label: connected(installation, scene, user) for label, (scene, user) in scenes.items()}
    party.calls.clear()
    return Tenants(installation, party, ada, bob, foreign)


def connected(installation: Installation, scene: Scene, user: str) -> Account:
    """An account by key, made through the API."""
    service = installation.service
    client, _ = oauth_clients.create(service, name="Server", project_id=scene.project_id)
    token = str(connect_tokens.create(service, scene, connect_tokens.TokenRequest(user), client_id=None)["token"])
    body = {"app_slug": "acme_keys", "cfmap_json": json.dumps({"api_key": GOOD_KEY}), "connect_token": token}
    headers = {"Authorization": f"Bearer {access_tokens.issue(service, client, None).token}"}
    address = f"{installation.url}/v1/connect/{scene.project_id}/accounts"
    headers["x-pd-environment"] = scene.environment
    answer = requests.post(address, json=body, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return accounts.get(service.store, scene, answer.json()["id"])


def comparable(page: Page, *ids: str) -> tuple[Any, ...]:
    """What an answer says, without what differs from one request to the next and without the ``ids`` it was asked."""
    text, location = page.text, page.headers.get("Location", "")
    for one in ids:
        text, location = text.replace(one, "ID"), location.replace(one, "ID")
    text = re.sub(r'(name="(?:csrf_token|attempt)" value=|nonce=|"X-CSRFToken": )"[^"]*"', r'\1""', text)
    text = re.sub(r"(/_static/connect/start/)[\w-]+", r"\1", text)
    left_out = ("Date", "Set-Cookie", "X-Request-Id", "Content-Length")
    headers = {name: value for name, value in page.headers.items() if name not in left_out}
    headers["Content-Security-Policy"] = re.sub(r"'nonce-[^']*'", "", headers["Content-Security-Policy"])
    headers["Location"] = location
    return page.status, text, sorted(headers.items())


def call_api(tenants: Tenants, method: str, path: str, token: str, **more: Any) -> tuple[int, bytes]:
    """The status and bytes of an answer of the API."""
    answer = tenants.installation.api(method, path, token, **more)
    return answer.status_code, answer.content
