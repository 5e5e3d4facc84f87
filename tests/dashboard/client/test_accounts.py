"""Apps and accounts over the API: named failures, and None for what a service lacks."""

from typing import Any

import pytest

from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.dashboard import KEY
from webapp.errors import NotFound, Throttled
from webapp.kit.clock import SECOND


def test_failures_have_names(busy: Any) -> None:
    user = UserClient(busy.app.extensions[KEY].client, busy.alice.id)
    with pytest.raises(NotFound, match="no such account"):
        user.account("apn_000003x")  # somebody else's
    busy.connect.throttled = True
    with pytest.raises(Throttled) as caught:
        user.accounts(limit=1)
    assert caught.value.retry_after == 17
    assert caught.value.limit == 3
    busy.connect.throttled, busy.connect.down = False, True
    busy.clock.advance(17 * SECOND)
    with pytest.raises(ServiceDown):
        user.accounts(limit=1)


def test_missing_extensions_are_none(busy: Any) -> None:
    busy.connect.extensions = False
    user = UserClient(busy.app.extensions[KEY].client, busy.alice.id)
    assert user.uses("apn_000000x") is None
    assert user.history("apn_000000x") is None
    assert user.test_account("apn_000000x") is None
    assert user.rename_account("apn_000000x", "x") is None
    assert user.revoke_account("apn_000000x") is None
    assert user.categories(AppFilter()) == []
    assert user.app("github").extras is None
    assert user.account("apn_000000x").identity is None


def test_ids_cannot_leave_their_place_in_the_path(busy: Any) -> None:
    user = UserClient(busy.app.extensions[KEY].client, busy.alice.id)
    with pytest.raises(NotFound):
        user.account("../../apps")
    assert busy.connect.seen[-1][1] == "/v1/connect/proj_Fake1/accounts/../../apps"  # one segment, sent as %2F
