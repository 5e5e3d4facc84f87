"""The client: which token makes which call, when tokens are renewed, and what every failure becomes."""

import socket
import threading
from typing import Any

import pytest

from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.transport import ServiceDown, Transport
from webapp.dashboard.dashboard import KEY
from webapp.errors import NotFound, Throttled
from webapp.kit.clock import HOUR, MINUTE, SECOND


def client_of(stage: Any) -> ConnectClient:
    found = stage.app.extensions[KEY].client
    assert isinstance(found, ConnectClient)
    return found


def test_oauth_makes_tokens_and_nothing_else(busy: Any) -> None:
    user = UserClient(client_of(busy), busy.alice.id)
    user.apps(AppFilter(), limit=5)
    user.app("github")
    user.categories()
    user.accounts(limit=5)
    user.account("apn_000000x")
    user.uses("apn_000000x")
    user.history("apn_000000x")
    user.test_account("apn_000000x")
    user.rename_account("apn_000000x", "Other")
    user.revoke_account("apn_000000x")
    user.delete_account("apn_000000x")
    by_oauth = {path for _, path, token, _ in busy.connect.seen if token in busy.connect.oauth}
    assert by_oauth == {"/v1/connect/proj_Fake1/tokens"}
    assert len(busy.connect.calls("/oauth/token")) == 1
    assert len(busy.connect.calls("/tokens")) == 1


def test_access_token_is_renewed_two_minutes_early(stage: Any) -> None:
    client = client_of(stage)
    for advance, fetched in ((0, 1), (HOUR - 121 * SECOND, 1), (SECOND, 2)):
        stage.clock.advance(advance)
        client.create_token({"external_user_id": "u_1"})
        assert len(stage.connect.calls("/oauth/token")) == fetched


def test_connect_token_is_renewed_before_its_end(stage: Any) -> None:
    user = UserClient(client_of(stage), "u_1")
    for advance, made in ((0, 1), (4 * HOUR - 5 * MINUTE - 1, 1), (1, 2)):
        stage.clock.advance(advance)
        user.accounts(limit=1)
        assert len(stage.connect.calls("/tokens")) == made


def test_tokens_that_were_revoked_are_made_anew_once(stage: Any) -> None:
    user = UserClient(client_of(stage), "u_1")
    user.accounts(limit=1)
    stage.connect.tokens.clear()
    stage.connect.oauth.clear()
    assert user.accounts(limit=1).total == 0
    assert len(stage.connect.calls("/oauth/token")) == 2


def test_refused_client_is_the_service_being_down(stage: Any) -> None:
    wrong = ConnectClient(
        client_of(stage).transport,
        stage.clock,
        client_id="client",
        client_secret="wrong",
        project=lambda: "proj_Fake1",
        environment="development",
    )
    with pytest.raises(ServiceDown, match="refused the dashboard’s own client"):
        UserClient(wrong, "u_1").accounts(limit=1)


def test_failures_have_names(busy: Any) -> None:
    user = UserClient(client_of(busy), busy.alice.id)
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
    user = UserClient(client_of(busy), busy.alice.id)
    assert user.uses("apn_000000x") is None
    assert user.history("apn_000000x") is None
    assert user.test_account("apn_000000x") is None
    assert user.rename_account("apn_000000x", "x") is None
    assert user.revoke_account("apn_000000x") is None
    assert user.categories() == []
    assert user.app("github").extras is None
    assert user.account("apn_000000x").identity is None


def test_ids_cannot_leave_their_place_in_the_path(busy: Any) -> None:
    user = UserClient(client_of(busy), busy.alice.id)
    with pytest.raises(NotFound):
        user.account("../../apps")
    assert busy.connect.seen[-1][1] == "/v1/connect/proj_Fake1/accounts/../../apps"  # one segment, sent as %2F


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html", b"garbage\r\n\r\n", b""])
def test_a_remote_that_is_no_connect_service_is_down(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        transport = Transport(f"http://127.0.0.1:{server.getsockname()[1]}")

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ServiceDown):
            transport.call("GET", "/v1/connect/apps")
        thread.join()
        transport.close()


def test_nobody_listening_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    transport = Transport(f"http://127.0.0.1:{port}")
    with pytest.raises(ServiceDown):
        transport.call("GET", "/v1/connect/apps")
    transport.close()


def test_nothing_of_the_browser_crosses_to_the_service(busy: Any) -> None:
    browser = busy.signed_in()
    browser.client.set_cookie("secret", "canary-cookie")
    busy.connect.seen.clear()
    browser.get("/accounts", **{"X-Forwarded-For": "203.0.113.9", "X-Canary": "canary-header", "Origin": "https://x"})
    assert busy.connect.seen
    for _, _, _, environ in busy.connect.seen:
        text = str(environ)
        assert "canary" not in text
        assert environ["REMOTE_ADDR"] == "127.0.0.1"
        assert environ["HTTP_HOST"] == "localhost"
        assert "HTTP_COOKIE" not in environ
        assert "HTTP_ORIGIN" not in environ
        assert "HTTP_X_FORWARDED_FOR" not in environ
