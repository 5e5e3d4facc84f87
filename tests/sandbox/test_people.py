"""The demonstration people, found by their ids alone; their keys come from the installation's secret, one is off."""

from webapp.sandbox.people import KEY_PREFIX, PEOPLE, Keys, find_person


def test_a_person_is_found_by_id_only() -> None:
    assert [find_person(person.id) for person in PEOPLE] == list(PEOPLE)
    assert [find_person(other) for other in ("", "per_nobody", "acct_ada", "Ada Lovelace")] == [None] * 4


def test_how_a_person_is_shown() -> None:
    ada = PEOPLE[0]
    assert (ada.account_id, ada.initials) == ("acct_ada", "AL")
    assert ada.to_json() == {
        "id": "per_ada", "name": "Ada Lovelace", "email": "ada@sandbox.example", "account_id": "acct_ada",
    }  # fmt: skip


KEYS = Keys(b"s" * 32)


def test_the_same_secret_gives_the_same_keys() -> None:
    again, other = Keys(b"s" * 32), Keys(b"t" * 32)
    assert KEYS.working == again.working and KEYS.disabled == again.disabled
    assert {key.secret for key in KEYS.working}.isdisjoint(key.secret for key in other.working)
    assert len({key.secret for key in (*KEYS.working, KEYS.disabled)}) == len(PEOPLE) + 1
    assert all(key.secret.startswith(KEY_PREFIX) for key in KEYS.working)


def test_a_key_is_found_alone_and_with_its_account() -> None:
    ada, grace, _ = KEYS.working
    assert KEYS.by_key(ada.secret) == ada and KEYS.by_key("sbx_live_x") is None
    assert KEYS.by_key(KEYS.disabled.secret) == KEYS.disabled and KEYS.disabled.disabled
    assert KEYS.by_account("acct_ada", ada.secret) == ada
    assert KEYS.by_account("acct_ada", grace.secret) is None
