"""API keys of people: one each, kept as a hash alone."""

from typing import Any

from webapp.people import api_keys, users


def test_a_key_names_its_person_until_another_is_given(store: Any, clock: Any) -> None:
    ada = users.create(store, clock, email="ada@example.com", password="ten letters", role="owner")
    assert api_keys.created_at(store, ada.id) is None
    first = api_keys.create(store, clock, ada.id)
    assert api_keys.owner_id(store, first) == ada.id and api_keys.created_at(store, ada.id) == clock()
    clock.advance(1000)
    second = api_keys.create(store, clock, ada.id)
    assert (api_keys.owner_id(store, first), api_keys.owner_id(store, second)) == (None, ada.id)
    assert api_keys.created_at(store, ada.id) == clock()
    kept = store.one("SELECT * FROM user_api_keys")
    assert first not in str(kept) and second not in str(kept)


def test_what_is_no_key_is_nobodys(store: Any) -> None:
    for text in ("", "pbk_", "pbk_x", "ctok_" + "0" * 32):
        assert api_keys.owner_id(store, text) is None


def test_a_key_that_ended_is_nobodys(store: Any, clock: Any) -> None:
    ada = users.create(store, clock, email="ada@example.com", password="ten letters", role="owner")
    key = api_keys.create(store, clock, ada.id)
    for _ in range(2):
        with store.write() as tx:
            api_keys.revoke(tx, clock(), ada.id)
    assert api_keys.owner_id(store, key) is None and api_keys.created_at(store, ada.id) is None
    verbs = [row["verb"] for row in store.all("SELECT verb FROM audit WHERE noun = 'key' ORDER BY id")]
    assert verbs == ["created", "ended"]
