"""Custom rate limits: kept under a token of which only the hash is stored."""

from webapp.kit.clock import FakeClock
from webapp.kit.crypto import hash_token
from webapp.kit.cursors import Window
from webapp.service.domain.access import custom_limits
from webapp.service.domain.base.rate_limits import Limit
from webapp.service.domain.base.service import Service


def test_a_limit_is_found_by_the_hash_of_its_token(service: Service) -> None:
    limit = Limit(requests=5, window_s=60)
    token = custom_limits.create(service, limit)
    assert token.startswith(custom_limits.PREFIX)
    assert custom_limits.find(service.store, hash_token(token)) == limit
    assert custom_limits.find(service.store, hash_token(token + "x")) is None


def test_the_newest_come_first(service: Service, clock: FakeClock) -> None:
    for requests in (1, 2, 3):
        custom_limits.create(service, Limit(requests, window_s=60))
        clock.advance(1)
    page = custom_limits.page(service.store, Window(limit=2))
    assert [custom.limit.requests for custom in page.items] == [3, 2] and page.total_count == 3
    rest = custom_limits.page(service.store, Window(limit=2, after=page.end_cursor))
    assert [custom.limit.requests for custom in rest.items] == [1]


def test_the_token_is_neither_stored_nor_audited(service: Service) -> None:
    token = custom_limits.create(service, Limit(requests=5, window_s=60))
    kept = service.store.all("SELECT * FROM custom_limits") + service.store.all("SELECT * FROM audit")
    assert len(kept) >= 2 and token not in str(kept)
