"""The demonstration keys come from the installation's secret, one for each person and one switched off."""

from webapp.sandbox.keys import PREFIX, Keys
from webapp.sandbox.people import PEOPLE

KEYS = Keys(b"s" * 32)


def test_the_same_secret_gives_the_same_keys() -> None:
    again, other = Keys(b"s" * 32), Keys(b"t" * 32)
    assert KEYS.working == again.working and KEYS.disabled == again.disabled
    assert {key.secret for key in KEYS.working}.isdisjoint(key.secret for key in other.working)
    assert len({key.secret for key in (*KEYS.working, KEYS.disabled)}) == len(PEOPLE) + 1
    assert all(key.secret.startswith(PREFIX) for key in KEYS.working)


def test_a_key_is_found_alone_and_with_its_account() -> None:
    ada, grace, _ = KEYS.working
    assert KEYS.by_key(ada.secret) == ada and KEYS.by_key("sbx_live_x") is None
    assert KEYS.by_key(KEYS.disabled.secret) == KEYS.disabled and KEYS.disabled.disabled
    assert KEYS.by_account("acct_ada", ada.secret) == ada
    assert KEYS.by_account("acct_ada", grace.secret) is None
