"""Sessions of portals: the handle alone opens them, and a row gives nothing away."""

import json
from typing import Any

import pytest

from webapp.dashboard.client.connect import TokenFacts
from webapp.dashboard.portal import sessions
from webapp.dashboard.portal.sessions import Look
from webapp.kit.clock import DAY, HOUR, FakeClock, iso

TOKEN = "ctok_canary"


@pytest.fixture
def facts(clock: FakeClock) -> TokenFacts:
    return TokenFacts(
        success=True, project_id="proj_1", project_environment="production", external_user_id="alice",
        user_id="exu_1", scope="connect:*", expires_at=iso(clock() + HOUR),
    )  # fmt: skip


def test_the_handle_opens_it(store: Any, clock: FakeClock, facts: TokenFacts) -> None:
    made = sessions.create(store, clock, TOKEN, facts, Look(False, "dark"), owned=False)
    assert sessions.find(store, made.handle) == made
    assert made.token == TOKEN and made.look == Look(False, "dark") and made.expires_at == clock() + HOUR
    assert made.base == f"/portal/{made.handle}" and made.handle not in repr(made) and TOKEN not in repr(made)
    for wrong in ("", "ps_", made.handle[:-1], made.handle + "x", made.handle.removeprefix("ps_")):
        assert sessions.find(store, wrong) is None


def test_a_row_gives_nothing_away(store: Any, clock: FakeClock, facts: TokenFacts) -> None:
    made = sessions.create(store, clock, TOKEN, facts, Look(), owned=False)
    (row,) = store.all("SELECT * FROM portal_sessions")
    assert made.handle not in repr(row) and TOKEN not in repr(row)


def test_a_user_of_another_installation_is_named_by_all_that_tells_them_apart(
    store: Any, clock: FakeClock, facts: TokenFacts
) -> None:
    made = sessions.create(store, clock, TOKEN, facts, Look(), owned=False)
    assert (made.viewer, made.user_id) == ("portal proj_1 production alice", None)


def test_those_long_over_are_forgotten(store: Any, clock: FakeClock, facts: TokenFacts) -> None:
    made = sessions.create(store, clock, TOKEN, facts, Look(), owned=False)
    clock.advance(7 * DAY)
    sessions.create(store, clock, TOKEN, facts, Look(), owned=False)
    assert sessions.find(store, made.handle)
    clock.advance(2 * HOUR)
    sessions.create(store, clock, TOKEN, facts, Look(), owned=False)
    assert sessions.find(store, made.handle) is None


def test_notes_are_kept_for_the_next_page(store: Any, clock: FakeClock, facts: TokenFacts) -> None:
    made = sessions.create(store, clock, TOKEN, facts, Look(), owned=False)
    sessions.note(store, made.handle, [("ok", "Done.")])
    assert sessions.find(store, made.handle).notes == (("ok", "Done."),)  # type: ignore[union-attr]
    assert json.loads(store.one("SELECT notes FROM portal_sessions")["notes"]) == [["ok", "Done."]]


def test_it_goes_with_its_user(world: Any) -> None:
    portal = world.portal()
    with world.service.store.write() as tx:
        tx.run("DELETE FROM external_users", {})
    assert sessions.find(world.service.store, portal.handle) is None
