"""What a provider says of itself, and how often it is asked."""

from typing import Any

import pytest

from tests.people.oidc.openid import ISSUER, FakeOpenId
from webapp.kit.clock import HOUR, SECOND, FakeClock
from webapp.people.oidc.metadata import REST, Source, Unreachable


@pytest.fixture
def openid() -> FakeOpenId:
    return FakeOpenId(FakeClock())


@pytest.fixture
def source(openid: FakeOpenId) -> Source:
    return Source(openid.client, openid.clock, ISSUER)


def test_it_is_asked_once_an_hour(openid: FakeOpenId, source: Source) -> None:
    for _ in range(2):
        assert source.metadata().url("token_endpoint") == f"{ISSUER}/token"
        assert [key["kid"] for key in source.keys()["keys"]] == ["first"]
    assert openid.asked == ["/.well-known/openid-configuration", "/keys"]
    openid.published = ("first", "second")
    assert len(source.keys(newer=True)["keys"]) == 1, "that was just now"
    openid.clock.advance(10 * SECOND)
    assert len(source.keys(newer=True)["keys"]) == 2
    openid.clock.advance(HOUR)
    source.keys()
    assert openid.asked[3:] == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "facts",
    [
        {"issuer": f"{ISSUER}/"},
        {"issuer": None},
        {"token_endpoint": "http://id.example.com/token"},
        {"token_endpoint": None},
        {"jwks_uri": 7},
        {"end_session_endpoint": "javascript:alert(1)"},
    ],
)
def test_what_is_not_itself_or_not_safe_is_refused(openid: FakeOpenId, source: Source, facts: dict[str, Any]) -> None:
    openid.facts = facts
    with pytest.raises(Unreachable):
        source.metadata()
    openid.facts = {}
    openid.clock.advance(REST)
    assert source.metadata().url("userinfo_endpoint") == f"{ISSUER}/userinfo"


def test_one_that_has_just_failed_is_left_alone_for_a_while(openid: FakeOpenId, source: Source) -> None:
    openid.down = True
    for _ in range(3):
        with pytest.raises(Unreachable, match="does not answer"):
            source.metadata()
    assert len(openid.asked) == 1, "nobody else waits for it"
    openid.down = False
    openid.clock.advance(REST)
    assert source.metadata().url("token_endpoint") and len(openid.asked) == 2
    openid.clock.advance(-HOUR)
    openid.down = True
    with pytest.raises(Unreachable):
        source.metadata()
    assert len(openid.asked) == 3


def test_an_answer_that_is_no_object(openid: FakeOpenId, source: Source) -> None:
    source.metadata()
    openid.facts = {"jwks_uri": f"{ISSUER}/userinfo"}
    openid.down = True
    with pytest.raises(Unreachable, match="does not answer"):
        source.keys()
    assert source.metadata().names("scopes_supported", ("openid",)) == ("openid",)
