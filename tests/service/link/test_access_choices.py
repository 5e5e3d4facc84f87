"""What access a person can give: the usual one once, each profile with its grants in words, and one that is chosen."""

from typing import Any

from webapp.service.domain.access import connect_tokens
from webapp.service.link.access_choices import choices
from webapp.service.link.visit import Visit


def offered(world: Any, **parameters: str) -> list[Any]:
    token = connect_tokens.recall(world.service.store, world.token())
    assert token is not None
    return choices(world.service, Visit(token, world.project, parameters), world.service.app("sandbox"))


def test_exactly_one_is_chosen_whatever_the_link_says(world: Any) -> None:
    for profile in ("", "read_only", "full", "no-such-profile"):
        found = offered(world, **({"oauthScopeProfile": profile} if profile else {}))
        assert sum(choice.chosen for choice in found) == 1
        names = [choice.name for choice in found]
        assert len(set(names)) == len(names)
        if profile in names:
            assert next(choice.name for choice in found if choice.chosen) == profile


def test_grants_are_in_words_and_never_twice(world: Any) -> None:
    for choice in offered(world):
        assert choice.label and choice.scopes
        assert len(set(choice.grants)) == len(choice.grants)
        assert all(grant[0].isupper() and not grant.endswith(".") for grant in choice.grants)
