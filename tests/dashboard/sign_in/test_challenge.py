"""Challenges of one browser, and where browsers have passkeys at all."""

from typing import Any

import pytest

from webapp.dashboard.sign_in import challenge
from webapp.kit.clock import MINUTE


def test_a_challenge_is_taken_once_and_in_time(stage: Any) -> None:
    with stage.request():
        assert challenge.take() is None
        given = challenge.give()
        assert challenge.take() == given and challenge.take() is None
        challenge.give()
        stage.clock.advance(5 * MINUTE)
        assert challenge.take() is None


@pytest.mark.parametrize(
    ("url", "party"),
    [
        ("http://localhost:8600", "localhost"), ("https://connect.example.com", "connect.example.com"),
        ("http://connect.example.com", None), ("http://127.0.0.1:8600", None), ("https://192.0.2.7", None),
        ("https://[2001:db8::1]", None),
    ],
)  # fmt: skip
def test_the_site_that_passkeys_are_for(make_stage: Any, url: str, party: str | None) -> None:
    with make_stage(PATCHBAY_PUBLIC_URL=url).request():
        site = challenge.relying_party()
    assert (site and (site.id, site.origin)) == (party and (party, url))
