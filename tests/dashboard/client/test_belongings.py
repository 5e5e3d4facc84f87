"""What a removed person had at another Connect service."""

from typing import Any

import pytest

from webapp.dashboard.client.belongings import RemoteBelongings
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.dashboard import KEY
from webapp.errors import NotFound


def test_it_is_removed_with_the_login(elsewhere: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str]] = []
    answers: list[Exception | None] = [None, NotFound(), ServiceDown()]

    def call(_: ConnectClient, method: str, path: str) -> None:
        calls.append((method, path))
        if (error := answers.pop(0)) is not None:
            raise error

    monkeypatch.setattr(ConnectClient, "as_project", call)
    belongings = elsewhere.app.extensions[KEY].logins.belongings
    assert isinstance(belongings, RemoteBelongings)
    belongings.remove("u_bob")
    belongings.remove("u_bob")
    with pytest.raises(ServiceDown):
        belongings.remove("u_bob")
    assert calls == [("DELETE", "/v1/connect/proj_Fake1/users/u_bob")] * 3
