"""Custom rate limits: kept under a token of which only the hash is stored."""

from webapp.kit.crypto import hash_token
from webapp.service.domain.access import custom_limits
from webapp.service.domain.base.rate_limits import Limit
from webapp.service.domain.base.service import Service


def test_a_limit_is_found_by_the_hash_of_its_token(service: Service) -> None:
    limit = Limit(requests=5, window_s=60)
    token = custom_limits.create(service, limit)
    assert token.startswith(custom_limits.PREFIX)
    assert custom_limits.find(service.store, hash_token(token)) == limit
    assert custom_limits.find(service.store, hash_token(token + "x")) is None


def test_the_token_is_neither_stored_nor_audited(service: Service) -> None:
    token = custom_limits.create(service, Limit(requests=5, window_s=60))
    kept = service.store.all("SELECT * FROM custom_limits") + service.store.all("SELECT * FROM audit")
    assert len(kept) >= 2 and token not in str(kept)
