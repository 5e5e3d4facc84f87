"""A sign-in from its beginning to the claims."""

import dataclasses
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.people.oidc.openid import ENV, FakeOpenId
from webapp.kit.clock import FakeClock
from webapp.people.oidc.claims import Claims, NotSignedIn
from webapp.people.oidc.provider import OpenIdProvider
from webapp.settings import Settings


@pytest.fixture
def openid() -> FakeOpenId:
    return FakeOpenId(FakeClock())


@pytest.fixture
def provider(openid: FakeOpenId) -> OpenIdProvider:
    settings = Settings.from_env({**ENV, "PATCHBAY_OIDC_ROLES": "admins=owner"})
    return OpenIdProvider(openid.client, settings, openid.clock)


@pytest.fixture
def signed_in(openid: FakeOpenId, provider: OpenIdProvider) -> Callable[..., Claims]:
    def sign_in(**changes: Any) -> Claims:
        attempt, url = provider.begin()
        answer = dict(parse_qsl(urlsplit(openid.consent(url)).query))
        return provider.finish(dataclasses.replace(attempt, **changes), answer)

    return sign_in


def test_what_the_id_token_lacks_is_asked_for(openid: FakeOpenId, signed_in: Callable[..., Claims]) -> None:
    openid.userinfo = openid.person | {"groups": ["admins"]}
    claims = signed_in()
    assert (claims.subject, claims.email, claims.email_verified) == ("248289", "alice@example.com", True)
    assert claims.groups == {"admins"}
    openid.userinfo |= {"sub": "somebody else"}
    with pytest.raises(NotSignedIn, match="cannot be used"):
        signed_in()
    openid.userinfo, openid.person = None, openid.person | {"groups": []}
    openid.asked.clear()
    assert signed_in().groups == frozenset() and "/userinfo" not in openid.asked


@pytest.mark.parametrize("part", ["nonce", "verifier", "state"])
def test_an_answer_to_another_attempt_is_refused(signed_in: Callable[..., Claims], part: str) -> None:
    with pytest.raises(NotSignedIn):
        signed_in(**{part: "of another"})


def test_a_new_key_is_looked_for(openid: FakeOpenId, signed_in: Callable[..., Claims]) -> None:
    openid.person["groups"] = []
    signed_in()
    openid.signed_with, openid.published = "second", ("first", "second")
    openid.clock.advance(60_000)
    assert signed_in().subject == "248289"
    openid.signed_with = "third"
    with pytest.raises(NotSignedIn):
        signed_in()


def test_a_provider_that_is_away_in_the_middle(
    openid: FakeOpenId, provider: OpenIdProvider, caplog: pytest.LogCaptureFixture
) -> None:
    attempt, url = provider.begin()
    answer = dict(parse_qsl(urlsplit(openid.consent(url)).query))
    openid.down = True
    with pytest.raises(NotSignedIn):
        provider.finish(attempt, answer)
    assert answer["code"] not in caplog.text and attempt.verifier not in caplog.text
    assert attempt.verifier not in repr(attempt) and provider.sign_out_url() is None
