"""The demonstration people: found by their ids alone, each with an account id and a badge."""

from webapp.sandbox.people import PEOPLE, find_person


def test_a_person_is_found_by_id_alone() -> None:
    assert [find_person(person.id) for person in PEOPLE] == list(PEOPLE)
    assert [find_person(other) for other in ("", "per_nobody", "acct_ada", "Ada Lovelace")] == [None] * 4


def test_how_a_person_is_shown() -> None:
    ada = PEOPLE[0]
    assert (ada.account_id, ada.initials) == ("acct_ada", "AL")
    assert ada.to_json() == {
        "id": "per_ada", "name": "Ada Lovelace", "email": "ada@sandbox.example", "account_id": "acct_ada",
    }  # fmt: skip
