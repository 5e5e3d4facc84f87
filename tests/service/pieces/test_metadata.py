"""What a piece tells of itself: read as far as it can be."""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.errors import Invalid
from webapp.service.pieces import metadata


def test_it_is_read_whatever_else_it_tells() -> None:
    description = metadata.read(described.piece(described.OAUTH, more={"x": 1}, authors=None))
    assert (description.title, description.authors, description.tells_events) == ("Acme Tasks", (), True)
    auth = metadata.auth(description.auth[0])
    assert auth is not None
    assert (auth.type, auth.token_url, auth.scopes, auth.pkce) == (
        "OAUTH2",
        "https://api.acme.io/token?v=2",
        ("tasks:read", "tasks:write"),
        True,
    )


@pytest.mark.parametrize("told", [None, [], {}, {"displayName": 5}, {"displayName": "x", "actions": {}}])
def test_what_is_no_piece_is_refused_in_a_sentence(told: Any) -> None:
    with pytest.raises(Invalid, match=r"^The package "):
        metadata.read(told)


@pytest.mark.parametrize("told", [None, {}, {"name": ""}, {"name": 5}, []])
def test_what_is_no_part_or_way_to_connect_is_none(told: Any) -> None:
    assert metadata.part(told) is None
    assert metadata.auth(told) is None


def test_one_that_has_no_end_is_refused() -> None:
    told = described.piece(described.OAUTH)
    many = {**told, "actions": {f"a{n}": {} for n in range(metadata.MOST_PARTS + 1)}}
    with pytest.raises(Invalid, match="more than 1,000 actions and triggers"):
        metadata.read(many)
    with pytest.raises(Invalid, match="does not describe itself"):
        metadata.read({**told, "auth": [described.SECRET] * (metadata.MOST_AUTHS + 1)})


def test_members_of_another_kind_are_empty() -> None:
    part = metadata.part({"name": "x", "displayName": None, "props": [], "wants": "flows", "aiMetadata": 1})
    assert part is not None
    assert (part.title, part.props, part.wants, part.ai, part.needs_account) == ("", {}, (), {}, True)


def test_texts_of_samples_are_found_however_deep() -> None:
    deep: Any = "here"
    for _ in range(5_000):
        deep = [deep]
    triggers = {"new": {"sampleData": {"a": {"b": ["x", 5]}, "c": deep}}, "odd": 5, "none": {}}
    description = metadata.Description.model_validate({"displayName": "T", "triggers": triggers})
    assert set(description.samples) == {"x", "here"}
