"""Grants: codes and tokens are used once, a second use ends all that came of them, and none stands in clear."""

from pathlib import Path
from typing import Any

import pytest

from webapp.kit.clock import FakeClock
from webapp.sandbox.grants import CODE_LIFE, NORMAL, Grants
from webapp.sandbox.people import PEOPLE
from webapp.sandbox.store import Store


@pytest.fixture
def grants(tmp_path: Path, clock: FakeClock) -> Grants:
    made = Grants(Store(tmp_path), clock)
    made.allow("canary-code", "client", PEOPLE[0], "profile", NORMAL, "http://localhost/back", "challenge")
    return made


def pair(number: int) -> dict[str, Any]:
    tokens = {"access_token": f"canary-access-{number}", "refresh_token": f"canary-refresh-{number}"}
    return {**tokens, "scope": "profile", "expires_in": 60}


def redeem(grants: Grants, number: int = 1) -> bool:
    code = grants.find_code("canary-code", "client")
    assert code is not None
    return grants.redeem(code, pair(number))


def is_live(grants: Grants, token: str) -> bool:
    found = grants.find_access(token)
    return found is not None and not found.is_revoked() and not found.expired


def test_a_code_is_for_its_client_and_for_a_while(grants: Grants, clock: FakeClock) -> None:
    assert grants.find_code("canary-code", "other") is None
    assert grants.find_code("unknown", "client") is None
    clock.advance(CODE_LIFE)
    assert grants.find_code("canary-code", "client") is None


def test_a_code_that_is_shown_twice_ends_its_grant(grants: Grants) -> None:
    assert redeem(grants)
    assert is_live(grants, "canary-access-1")
    assert grants.find_code("canary-code", "client") is None
    assert not is_live(grants, "canary-access-1")
    assert grants.live("client") == []


def test_of_two_that_redeem_at_once_one_wins_and_the_grant_ends(grants: Grants) -> None:
    first, second = grants.find_code("canary-code", "client"), grants.find_code("canary-code", "client")
    assert first is not None and second is not None
    assert (grants.redeem(first, pair(1)), grants.redeem(second, pair(2))) == (True, False)
    assert not is_live(grants, "canary-access-1")
    assert grants.find_access("canary-access-2") is None


def test_a_refresh_token_is_rotated_and_its_reuse_is_noticed(grants: Grants, clock: FakeClock) -> None:
    redeem(grants)
    old = grants.find_refresh("canary-refresh-1")
    assert old is not None
    assert grants.rotate(old, pair(2))
    assert is_live(grants, "canary-access-2")
    assert grants.find_refresh("canary-access-2") is None
    assert grants.find_refresh("canary-refresh-1") is None
    assert not is_live(grants, "canary-access-2")


def test_a_revoked_grant_is_over_with_all_its_tokens(grants: Grants) -> None:
    redeem(grants)
    (grant,) = grants.live("client")
    assert grants.revoke(grant.id, "The person ended it.")
    assert not grants.revoke(grant.id, "Again.")
    assert grants.find_refresh("canary-refresh-1") is None
    assert grants.find_any("canary-refresh-1") is not None
    assert grants.find_any("unknown") is None


def test_no_code_or_token_stands_in_the_file(grants: Grants, tmp_path: Path) -> None:
    redeem(grants)
    assert not any(b"canary" in path.read_bytes() for path in tmp_path.iterdir())
