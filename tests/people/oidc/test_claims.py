"""What is read of a provider's claims."""

from typing import Any

import pytest

from webapp.people.oidc import claims


@pytest.mark.parametrize(
    ("said", "name", "groups"),
    [
        ({"groups": ["staff", "admins", 7]}, "groups", {"staff", "admins"}),
        ({"groups": "staff"}, "groups", {"staff"}),
        ({"realm_access": {"roles": ["staff"]}}, "realm_access.roles", {"staff"}),
        ({"https://acme.example/roles": ["staff"]}, "https://acme.example/roles", {"staff"}),
        ({"groups": {"staff": True}}, "groups", set()),
        ({}, "groups", set()),
    ],
)
def test_groups_are_texts_wherever_they_stand(said: dict[str, Any], name: str, groups: set[str]) -> None:
    assert claims.read("https://id.example.com", {"sub": "1", **said}, name).groups == groups


@pytest.mark.parametrize(
    ("said", "email", "verified"),
    [
        ({"email": "a@example.com", "email_verified": True}, "a@example.com", True),
        ({"email": "a@example.com", "email_verified": "true"}, "a@example.com", True),
        ({"email": "a@example.com", "email_verified": 1}, "a@example.com", True),
        ({"email": "a@example.com", "email_verified": "false"}, "a@example.com", False),
        ({"email": ["a@example.com"]}, "", False),
    ],
)
def test_an_address_is_confirmed_where_the_provider_says_so(said: dict[str, Any], email: str, verified: bool) -> None:
    read = claims.read("https://id.example.com", {"sub": "1", **said}, "groups")
    assert (read.email, read.email_verified) == (email, verified)
