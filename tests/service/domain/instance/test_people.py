"""What is done to a login, and what ends with it.

What authenticator apps know is sealed with the keys of the installation, and anew by a rotation.
"""

from typing import Any

import pyotp
import pytest

from tests.people.authenticator import Authenticator
from webapp.errors import Conflict, NotFound, Unauthorized
from webapp.people import api_keys, challenges, passkeys, password_resets, sessions, totp, users
from webapp.people.passkeys import RelyingParty
from webapp.people.totp import Totp
from webapp.people.users import User
from webapp.service.domain.access import callers, connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import rotation
from webapp.service.domain.instance.people import TotpSealer, logins
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


@pytest.fixture
def bob(service: Service) -> User:
    return users.create(service.store, service.clock, email="bob@example.com", password="a long one", role="member")


def signed_in(service: Service, bob: User) -> str:
    return sessions.start(service.store, service.clock, user_id=bob.id, user_agent="", address="")


def test_who_is_disabled_is_out_everywhere_and_keeps_what_is_connected(
    service: Service, scene: Scene, bob: User, plant: Any
) -> None:
    account = plant(bob.id)
    session, key = signed_in(service, bob), api_keys.create(service.store, service.clock, bob.id)
    token = connect_tokens.create(service, scene, TokenRequest(bob.id), client_id=None)["token"]
    link, _ = logins(service).reset_link(bob.id)
    assert not logins(service).change(bob.id, enabled=False).enabled
    assert sessions.find(service.store, service.clock, session) is None
    for bearer in (key, token):
        with pytest.raises(Unauthorized):
            callers.authenticate(service, bearer)
    assert logins(service).change(bob.id, enabled=True, role="developer").role == "developer"
    assert callers.authenticate(service, key).person_id == bob.id
    assert password_resets.user_of_token(service.store, service.clock, link.partition("=")[2]) is None
    assert accounts.get(service.store, scene, account.id) == account


def test_who_is_removed_leaves_nothing_behind(service: Service, scene: Scene, bob: User, plant: Any) -> None:
    plant(bob.id)
    session, key = signed_in(service, bob), api_keys.create(service.store, service.clock, bob.id)
    logins(service).remove(bob.id)
    assert sessions.find(service.store, service.clock, session) is None
    assert api_keys.owner_id(service.store, key) is None
    assert external_users.of_id(service.store, bob.id) == []
    with pytest.raises(NotFound):
        logins(service).remove(bob.id)


def test_the_last_owner_keeps_login_and_accounts(service: Service, plant: Any) -> None:
    store, clock = service.store, service.clock
    ada = users.create(store, clock, email="ada@example.com", password="a long one", role="owner")
    plant(ada.id)
    with pytest.raises(Conflict, match="only owner"):
        logins(service).remove(ada.id)
    with pytest.raises(Conflict, match="only owner"):
        logins(service).change(ada.id, enabled=False)
    assert len(external_users.of_id(store, ada.id)) == 1 and users.get(store, ada.id) == ada


def test_two_step_sign_in_is_switched_off(service: Service, bob: User) -> None:
    codes = Totp(service.store, service.clock, TotpSealer(service))
    secret = codes.begin(bob)
    assert codes.enable(bob, pyotp.TOTP(secret).at(service.clock() // 1000)) and totp.is_on(service.store, bob.id)
    device, challenge, site = Authenticator(), challenges.new(), RelyingParty("localhost", "http://localhost")
    passkeys.add(service.store, service.clock, site, bob, challenge, device.create(challenge), "Phone")
    assert logins(service).reset_two_step(bob.id) and not totp.is_on(service.store, bob.id)
    assert passkeys.of_user(service.store, bob.id) == []
    assert not logins(service).reset_two_step(bob.id)


def test_sessions_end_and_are_audited(service: Service, bob: User) -> None:
    session = signed_in(service, bob)
    assert logins(service).end_sessions(bob.id) == 1
    assert sessions.find(service.store, service.clock, session) is None
    (entry,) = service.store.all(
        "SELECT verb FROM audit WHERE subject_id = :id AND verb = 'signed_out'", {"id": bob.id}
    )
    assert entry


def test_a_secret_is_sealed_and_outlives_a_rotation(service: Service) -> None:
    codes = Totp(service.store, service.clock, TotpSealer(service))
    alice = users.create(service.store, service.clock, email="a@example.com", password="a long one", role="owner")
    secret = codes.begin(alice)
    (row,) = service.store.all("SELECT secret_sealed FROM totp_secrets")
    assert secret.encode() not in row["secret_sealed"]
    assert rotation.rotate(service).resealed["totp_secrets"] == 1
    assert codes.begin(alice) == secret
    assert codes.enable(alice, pyotp.TOTP(secret).at(service.clock() // 1000))
