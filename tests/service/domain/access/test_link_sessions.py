"""Link sessions: found by their own secret only, and kept as long as their tokens."""

from typing import Any

from webapp.kit.clock import DAY, HOUR
from webapp.service.domain.access import link_sessions


def test_a_session_is_found_by_its_own_secret_only(bench: Any) -> None:
    token = bench.token()
    session, secret = link_sessions.create(bench.service, token, {"app": "acme"})
    other, foreign = link_sessions.create(bench.service, token, {})
    store = bench.service.store
    assert link_sessions.find(store, session.id, secret) == session
    assert session.parameters == {"app": "acme"} and session.token_hash == token.token_hash
    for wrong in (None, "", foreign, secret[:-1]):
        assert link_sessions.find(store, session.id, wrong) is None
    assert link_sessions.find(store, "ls_unknown", secret) is None
    assert link_sessions.by_id(store, other.id) == other


def test_the_secret_is_kept_as_a_hash(bench: Any) -> None:
    _, secret = link_sessions.create(bench.service, bench.token(), {})
    assert secret not in repr(bench.service.store.all("SELECT * FROM link_sessions"))


def test_a_session_is_remembered_7_days_longer_than_its_token(bench: Any) -> None:
    link_sessions.create(bench.service, bench.token(), {})
    bench.clock.advance(4 * HOUR + 7 * DAY)
    assert link_sessions.purge(bench.service) == 0
    bench.clock.advance(1)
    assert link_sessions.purge(bench.service) == 1
