"""When tokens are renewed."""

from typing import Any

from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.dashboard import KEY
from webapp.kit.clock import HOUR, MINUTE, SECOND


def test_access_token_is_renewed_two_minutes_early(stage: Any) -> None:
    client = stage.app.extensions[KEY].client
    for advance, fetched in ((0, 1), (HOUR - 121 * SECOND, 1), (SECOND, 2)):
        stage.clock.advance(advance)
        client.create_token({"external_user_id": "u_1"})
        assert len(stage.connect.calls("/oauth/token")) == fetched


def test_connect_token_is_renewed_before_its_end(stage: Any) -> None:
    user = UserClient(stage.app.extensions[KEY].client, "u_1")
    for advance, made in ((0, 1), (4 * HOUR - 5 * MINUTE - 1, 1), (1, 2)):
        stage.clock.advance(advance)
        user.accounts(limit=1)
        assert len(stage.connect.calls("/tokens")) == made
