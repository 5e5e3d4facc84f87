"""Connect notifications and what general webhooks hear, verified with the project's key."""

import json
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from tests.service.conftest import GOOD_KEY
from webapp.kit.clock import now
from webapp.service.catalog.app import App
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import account_state, attempts, connections, notifications
from webapp.service.domain.accounts.attempts import AttemptRequest
from webapp.service.domain.base.failures import CredentialsRefused
from webapp.service.domain.deliveries import endpoints, signing_keys
from webapp.service.domain.instance import rotation


def app_of(post: DeliveryHarness) -> App:
    app = post.service.catalog.app("tinykeys")
    assert app is not None
    return app


def token_of(post: DeliveryHarness, webhook_uri: str | None = None) -> tuple[str, ConnectToken]:
    made = connect_tokens.create(
        post.service, post.scene, connect_tokens.TokenRequest("alice", webhook_uri=webhook_uri), client_id=None
    )
    return made["token"], connect_tokens.verify(post.service, made["token"])


def delivered(post: DeliveryHarness, path: str) -> list[dict[str, Any]]:
    """What came in there, each verified with the key of the scene."""
    key = signing_keys.key_of(post.service, post.scene)
    return [Webhook(key).verify(one.body, one.headers) for one in post.receiver.of(path)]


@pytest.fixture(autouse=True)
def today(post: DeliveryHarness) -> None:
    """The standard's own library compares with the wall clock."""
    post.clock.at = now()


def test_a_connection_is_told_to_the_tokens_webhook(post: DeliveryHarness) -> None:
    clear, token = token_of(post, post.receiver.url("/told"))
    account = connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY})
    post.turn()
    (told,) = delivered(post, "/told")
    assert (told["event"], told["connect_token"], told["environment"]) == ("CONNECTION_SUCCESS", clear, "development")
    assert told["account"]["id"] == account.id
    assert told["connect_session_id"].startswith("cs_")
    assert set(told["account"]) == {
        "id", "name", "external_id", "healthy", "dead", "app", "created_at", "updated_at", "authorized_scopes", "error",
        "last_refreshed_at", "next_refresh_at",
    }  # fmt: skip
    assert (told["account"]["external_id"], told["account"]["app"]["name_slug"]) == ("alice", "tinykeys")
    assert "credentials" not in told["account"]
    assert GOOD_KEY not in json.dumps(told)


def test_a_failure_is_told_too_and_only_once(post: DeliveryHarness) -> None:
    clear, token = token_of(post, post.receiver.url("/told"))
    attempt, _ = attempts.create(post.service, token, AttemptRequest("tinykeys"))
    attempt = attempts.claim_keys(post.service, attempt)
    attempts.fail(post.service, attempt, CredentialsRefused("The key is refused."))
    attempts.fail(post.service, attempt, CredentialsRefused("The key is refused."))
    post.turn()
    (told,) = delivered(post, "/told")
    assert (told["event"], told["connect_token"], told["error"]) == ("CONNECTION_ERROR", clear, "The key is refused.")


def test_what_nobody_came_back_to_is_reported_once_without_anybody_looking(post: DeliveryHarness) -> None:
    post.clock.advance(-attempts.EXCHANGE_TIME - attempts.SIGN_IN_TIME)
    _, token = token_of(post, post.receiver.url("/told"))
    _, secret = attempts.create(post.service, token_of(post, post.receiver.url("/told"))[1], AttemptRequest("acme"))
    attempts.start(post.service, secret, scopes=(), scope_profile=None, oauth_app_id="oa_1", mode="tab")
    broken_off, _ = attempts.create(post.service, token, AttemptRequest("tinykeys"))
    attempts.claim_keys(post.service, broken_off)
    attempts.create(post.service, token, AttemptRequest("tinykeys"))  # which nobody began
    counts = [attempts.fail_overdue(post.service)]
    for wait in (attempts.EXCHANGE_TIME, 1, attempts.SIGN_IN_TIME, 1):
        post.clock.advance(wait)
        counts.append(attempts.fail_overdue(post.service))
    assert counts == [0, 0, 1, 1, 0]
    post.turn()
    told = sorted((message["event"], message["error"]) for message in delivered(post, "/told"))
    assert told == [
        ("CONNECTION_ERROR", "The connection was interrupted. Start again."),
        ("CONNECTION_ERROR", "The sign-in took longer than 15 minutes. Start again."),
    ]


def test_without_a_webhook_nothing_is_written(post: DeliveryHarness) -> None:
    _, token = token_of(post)
    connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY})
    assert post.service.store.all("SELECT * FROM events") == []
    assert token.token_sealed is None


def test_an_undone_connection_is_not_reported(post: DeliveryHarness) -> None:
    _, token = token_of(post, post.receiver.url("/told"))

    def too_late(*_: object) -> None:
        raise RuntimeError("the attempt ended otherwise")

    with pytest.raises(RuntimeError):
        connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY}, on_commit=too_late)
    assert post.service.store.all("SELECT * FROM events") == []


def test_general_webhooks_hear_of_everything_in_their_reach(post: DeliveryHarness) -> None:
    with post.service.store.write() as tx:
        for path, project_id in (("/all", None), ("/mine", post.scene.project_id)):
            endpoints.add(
                tx, post.service, "general", post.receiver.url(path), scene=None, project_id=project_id, name="Ops"
            )
    clear, token = token_of(post, post.receiver.url("/told"))
    account = connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY})
    account_state.mark_dead(post.service, account, "The key was revoked.")
    trigger = post.trigger()
    with post.service.store.write() as tx:
        notifications.trigger_deactivated(tx, post.service, trigger, "Its account is gone.")
    post.turn()
    for path in ("/all", "/mine"):
        told = {one["event"]: one for one in delivered(post, path)}
        assert sorted(told) == ["ACCOUNT_DEAD", "CONNECTION_SUCCESS", "TRIGGER_DEACTIVATED"]
        assert told["CONNECTION_SUCCESS"]["connect_token"] == clear
        assert (told["ACCOUNT_DEAD"]["account"]["id"], told["ACCOUNT_DEAD"]["account"]["dead"]) == (account.id, True)
        assert told["TRIGGER_DEACTIVATED"]["trigger"]["id"] == trigger.id
    assert [one["event"] for one in delivered(post, "/told")] == ["CONNECTION_SUCCESS"]


def test_neither_keys_nor_tokens_stand_in_the_database(post: DeliveryHarness) -> None:
    """Nor what a receiver repeats of them."""
    clear, token = token_of(post, post.receiver.url("/told"))
    post.receiver.moods["/told"] = _echo(clear)
    connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY})
    post.turn()
    key = signing_keys.key_of(post.service, post.scene)
    post.service.store.checkpoint()
    for path in post.service.settings.data.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert clear.encode() not in content, path
            assert key.removeprefix("whsec_").encode() not in content, path


def test_a_rotation_reseals_what_is_on_its_way(post: DeliveryHarness) -> None:
    clear, token = token_of(post, post.receiver.url("/told"))
    key = signing_keys.key_of(post.service, post.scene)
    connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY})
    assert rotation.rotate(post.service).resealed["events"] == 1
    post.turn()
    (told,) = delivered(post, "/told")
    assert told["connect_token"] == clear
    assert signing_keys.key_of(post.service, post.scene) == key


def test_one_that_was_switched_off_gets_the_next_notification(post: DeliveryHarness) -> None:

    url = post.receiver.url("/told", Mood(410))
    for _ in range(2):
        _, token = token_of(post, url)
        connections.connect_with_keys(post.service, token, app_of(post), {"api_key": GOOD_KEY})
        post.turn()
    assert len(post.receiver.of("/told")) == 2
    assert len(endpoints.of_url(post.service.store, post.service, post.scene, "notification", url)) == 1


def _echo(text: str) -> Mood:

    return Mood(500, {"X-Echo": text}, body=text.encode())
