"""References are followed within the document, in circles to an end, and never out of it."""

import pytest

from webapp.errors import Invalid
from webapp.service.catalog.importing.refs import MOST_STEPS, Refs, Unresolved

REFS = Refs({"a": {"b/c": {"x": 1}, "~": [10, 20]}, "loop": {"$ref": "#/loop"}, "hop": {"$ref": "#/a/b~1c"}})


def test_a_pointer_is_followed_and_what_stands_beside_it_counts() -> None:
    assert REFS.follow({"$ref": "#/hop", "description": "Mine"}) == {"x": 1, "description": "Mine"}
    assert REFS.follow({"$ref": "#/a/~0/1"}) == 20
    assert REFS.follow("text") == "text"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [("#/loop", "back to itself"), ("#/a/none", "does not exist"), ("https://x.example/s.json#/a", "another document")],
)
def test_what_leads_nowhere_says_so(reference: str, reason: str) -> None:
    with pytest.raises(Unresolved, match=reason):
        REFS.follow({"$ref": reference})
    assert REFS.object({"$ref": reference}) == {}


def test_a_place_in_a_list_that_is_no_number_leads_nowhere() -> None:
    with pytest.raises(Unresolved, match="does not exist"):
        REFS.follow({"$ref": "#/a/~0/" + "1" * 5000})


def test_looking_at_a_document_ends() -> None:
    refs = Refs({})
    with pytest.raises(Invalid, match="refers to itself so often"):
        refs.count(MOST_STEPS + 1)
