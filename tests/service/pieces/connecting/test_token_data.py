"""What a piece looks at of a token answer."""

import pytest

from webapp.service.pieces.connecting.token_data import kept


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("context.auth.data.authed_user.access_token", {"authed_user_access_token": "authed_user.access_token"}),
        ("auth.data['instance_url'] + auth?.data?.team", {"instance_url": "instance_url", "team": "team"}),
        ('x.authValue.data["team"].id.toString()', {"team_id": "team.id"}),
        ("auth.data.access_token; response.data.items; auth.data", {}),
        ("auth.data.oauth_id", {"field_oauth_id": "oauth_id"}),
    ],
)
def test_members_that_it_reads_are_kept(source: str, names: dict[str, str]) -> None:
    assert kept(source) == names
