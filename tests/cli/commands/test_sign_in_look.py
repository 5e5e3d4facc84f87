"""What is said of the OpenID provider of the settings."""

from typing import Any

import pytest

from tests.people.oidc.openid import ENV, FakeOpenId
from webapp.cli.commands import sign_in_look
from webapp.kit.clock import FakeClock
from webapp.settings import Settings


@pytest.fixture
def openid(monkeypatch: pytest.MonkeyPatch) -> FakeOpenId:
    fake = FakeOpenId(FakeClock())
    monkeypatch.setattr(sign_in_look, "OutboundClient", lambda *_, **__: fake.client)
    return fake


def looks(**env: str) -> list[tuple[str, str]]:
    return list(sign_in_look.sign_in(Settings.from_env({**ENV, **env})))


def test_one_that_can_be_used(openid: FakeOpenId) -> None:
    ((verdict, sentence),) = looks()
    assert verdict == "ok" and "http://localhost/sign-in/oidc/callback" in sentence
    openid.facts = {"scopes_supported": ["openid", "email"]}
    (_, (verdict, sentence)) = looks()
    assert verdict == "note" and "advertise profile" in sentence
    assert list(sign_in_look.sign_in(Settings.from_env({}))) == []


@pytest.mark.parametrize(
    "trouble",
    [
        {"down": True},
        {"facts": {"issuer": "https://other.example.com"}},
        {"facts": {"id_token_signing_alg_values_supported": ["HS256"]}},
        {"published": ()},
    ],
)
def test_one_that_cannot(openid: FakeOpenId, trouble: dict[str, Any]) -> None:
    for name, value in trouble.items():
        setattr(openid, name, value)
    ((verdict, sentence),) = looks()
    assert verdict == "problem" and "https://id.example.com" in sentence
