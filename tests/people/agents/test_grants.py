"""What a person agreed to: its code is kept as a hash, and its end is the end of its tokens."""

from collections.abc import Callable

from webapp.kit.clock import MINUTE, FakeClock
from webapp.people import users
from webapp.people.agents import grants
from webapp.people.logins import Logins
from webapp.store.contract import Store, Tx


class Nothing:
    """What a person without accounts has at the service."""

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """There are none."""

    def remove(self, user_id: str) -> None:
        """Nor is there anything else."""


def test_a_code_is_kept_as_its_hash(store: Store, let_in: Callable[[], str]) -> None:
    code = let_in()
    grant = grants.by_code(store, code)
    assert grant is not None and (grant.client_name, grant.project_id) == ("Desk Helper", "proj_1")
    assert code not in repr(store.all("SELECT * FROM agent_grants"))
    assert grants.by_code(store, code + "x") is None


def test_a_code_that_nobody_exchanges_is_forgotten(store: Store, clock: FakeClock, let_in: Callable[[], str]) -> None:
    let_in()
    clock.advance(2 * MINUTE)
    assert grants.purge(store, clock()) == 1


def test_only_the_verifier_proves(store: Store, let_in: Callable[[], str]) -> None:
    grant = grants.by_code(store, let_in())
    assert grant is not None and grants.proves(grant, "v" * 43)
    assert not any(grants.proves(grant, wrong) for wrong in ("", "v" * 42, "v" * 44, "w" * 43, "\u00e4" * 43))


def test_who_is_disabled_ends_the_access_of_their_agents_for_good(
    store: Store, clock: FakeClock, let_in: Callable[[], str]
) -> None:
    grant = grants.by_code(store, let_in())
    assert grant is not None
    users.create(store, clock, email="bob@example.com", password="a long password", role="owner")
    logins = Logins(store, clock, "https://connect.example.com", Nothing())
    for enabled in (False, True):
        logins.change(grant.user_id, enabled=enabled)
        assert grants.get(store, grant.id) is None
    note = store.one("SELECT sentence FROM audit WHERE subject_id = :id AND verb = 'ended'", {"id": grant.id})
    assert note is not None and "disabled" in note["sentence"]
