"""How limits stand on API & keys."""

import pytest

from tests.dashboard.embedded import Embedded
from webapp.dashboard.build.keys.limits import WORDS, in_words
from webapp.dashboard.client.build.limits import LimitNow
from webapp.service.domain.base.rate_limits import LIMITS, key_of


@pytest.mark.parametrize(
    ("used", "words"), [(0, "0 of 2,000"), (1800, "1,800 of 2,000, nearly full"), (2000, "2,000 of 2,000, full")]
)
def test_what_is_used_up_in_words(used: int, words: str) -> None:
    assert in_words(LimitNow(name="tools", limit=2000, used=used)) == words


def test_every_limit_has_words() -> None:
    assert set(WORDS) == LIMITS.keys() - {"tokens"}


def test_the_page_tells_what_servers_used_up(office: Embedded) -> None:
    key = key_of("proxy", office.project.id, "development")
    office.service.limits.hit(LIMITS["proxy"], key, 990)
    page = office.browser("developer").get("/build/keys")
    assert "990 of 1,000, nearly full" in page and "0 of 3,000" in page
