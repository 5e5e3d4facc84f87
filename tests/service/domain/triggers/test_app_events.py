"""Events of Slack that come to the one address of a client: each account gets its own, what is forged or comes again
nobody. Notifications of Jira there: they are signed with the client's own secret, and let triggers poll. Those of Gmail
come from a topic, with a token of Google's."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from joserfc.jwk import OctKey

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared import gmail_watch
from tests.fakes.declared.gmail_watch import FIRST, OTHER, SECOND_KEY, SENDER, TOPIC, Gmail, GmailStage, in_process
from tests.fakes.declared.jira_webhooks import AT_MOST, KEY, Jira, JiraStage
from tests.fakes.declared.push import PUBLIC, opened
from tests.fakes.declared.slack_events import SECRET, Stage, told
from tests.fakes.declared.told_events import Notion, ToldStage
from tests.fakes.triggers import row, summaries
from webapp.errors import NotFound, Unavailable
from webapp.kit.clock import DAY, MINUTE, SECOND
from webapp.service.domain.accounts import events_secrets, oauth_apps
from webapp.service.domain.triggers import app_events, deployments, event_listeners, inbound_requests, subscriptions
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound.id_tokens import RETRY_MS


def test_two_users_on_one_client_each_get_their_own(stage: Stage) -> None:
    alice, bob, eve = (stage.deploy(name) for name in ("alice", "bob", "eve"))
    assert stage.send(told("public")) == 200
    assert stage.send(told("elsewhere", team="T2")) == 200
    assert stage.send(told("private", channel="G1", kind="group", seen_by="U-bot")) == 200
    assert stage.send(told("to bob", channel="D1", kind="im", seen_by="U-bob")) == 200
    assert stage.texts(alice) == ["private", "public"]
    assert stage.texts(bob) == ["public", "to bob"]
    assert stage.texts(eve) == ["elsewhere"]
    assert sorted(stage.slack.asked) == ["alice D1", "alice G1", "bob G1"]


def test_what_is_forged_or_comes_again_nobody_gets(stage: Stage) -> None:
    alice = stage.deploy("alice")
    assert stage.send(told("forged"), secret="guessed") == 401
    assert stage.send(told("old"), late=6 * MINUTE) == 401
    assert stage.send(told("once")) == 200
    assert stage.send(told("once")) == 200
    assert stage.texts(alice) == ["once"]
    assert stage.send(told("once")) == 200
    assert stage.texts(alice) == ["once"]
    other = oauth_apps.add(stage.service, app="slack", client_id="other", client_secret="s", events_secret=SECRET)
    assert stage.send(told("other"), client_id=other.id) == 200
    assert stage.texts(alice) == ["once"]


def test_too_many_events_at_once_are_refused_and_none_is_lost_in_silence(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = stage.deploy("alice")
    monkeypatch.setattr(app_events, "MAX_EVENTS", 2)
    assert stage.send([told("one"), told("two")]) == 200
    assert stage.send([told("three"), told("four"), told("five")]) == 413
    assert stage.texts(alice) == ["one", "two"]


def test_what_cannot_be_kept_now_is_taken_when_it_is_sent_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = stage.deploy("alice")
    with monkeypatch.context() as patched:
        patched.setattr(inbound_requests, "count", Mock(side_effect=Unavailable))
        with pytest.raises(Unavailable):
            stage.send(told("again"))
    assert stage.send(told("again")) == 200
    assert stage.texts(alice) == ["again"]


def test_the_handshake_is_answered_once_it_is_signed(stage: Stage) -> None:
    body = {"token": "Jhj5dZrVaK7ZwHHjRyZWjbDl", "challenge": "3eZbrw1aBm2rZgRNFdxV", "type": "url_verification"}
    assert stage.send(body) == 200
    assert json.loads(stage.answer.body) == {"challenge": "3eZbrw1aBm2rZgRNFdxV"}
    assert stage.send(body, secret="guessed") == 401


@pytest.mark.parametrize("slug", ["slack", "github", "no-such-app"])
def test_nobody_listens_without_a_secret_or_under_another_name(stage: Stage, slug: str) -> None:
    unset = oauth_apps.add(stage.service, app="slack", client_id="u", client_secret="s")
    request = InboundRequest("POST", "/", "", (), (), b"{}", "192.0.2.1", stage.service.clock())
    for client_id in (unset.id, "oa_none", *([stage.client.id] if slug != "slack" else [])):
        with pytest.raises(NotFound):
            app_events.receive(stage.service, slug, client_id, request)


def test_what_was_taken_in_is_forgotten_after_a_day(stage: Stage) -> None:
    app_events.purge(stage.service)
    stage.send(told("purged"))
    assert app_events.purge(stage.service) == 0
    stage.service.clock.advance(app_events.KEPT + SECOND)  # type: ignore[attr-defined]
    assert app_events.purge(stage.service) >= 1


def test_a_secret_that_notion_sends_signs_once_its_owner_took_it(slack_bench: Bench) -> None:
    """As https://developers.notion.com/reference/webhooks has it: the token comes unsigned, and signs what follows."""
    notion = ToldStage(slack_bench, Notion)
    service, notion.client = notion.service, oauth_apps.add(
        notion.service, app="notion", client_id="n", client_secret="s", project_id=notion.scene.project_id
    )  # fmt: skip

    def shake(token: object, **headers: str) -> int:
        body = json.dumps({"verification_token": token}).encode()
        request = InboundRequest("POST", "/", "", (), tuple(headers.items()), body, "192.0.2.1", service.clock())
        return app_events.receive(service, "notion", notion.client.id, request).status

    for wrong in (["t"], "", 7, None, "x" * 5_000, "\ud800", "a\nb"):
        with pytest.raises(NotFound):
            shake(wrong)
    assert shake("forged") == shake("secret_1") == 200
    with pytest.raises(NotFound):  # nobody took it yet
        notion.send("acme", secret="secret_1")
    assert events_secrets.take_handshake(service, notion.client) == "secret_1"
    notion.client = oauth_apps.get(service.store, notion.client.id)
    alice, bob = notion.deploy("alice"), notion.deploy("bob")
    assert shake("later") == 200
    assert [notion.send("acme", secret=secret) for secret in ("later", "forged", "secret_1")] == [401, 401, 200]
    notion.work()
    assert (summaries(service, alice), summaries(service, bob)) == (["The door sticks"], [])


def test_zoom_tries_the_address_with_a_text_to_sign(stage: Stage) -> None:
    """As https://developers.zoom.us/docs/api/webhooks/ has it."""
    client = oauth_apps.add(stage.service, app="zoom", client_id="z", client_secret="s", events_secret="zoom-secret")
    raw = b'{"event": "endpoint.url_validation", "payload": {"plainToken": "qgg8vlvZRS6UYooatFL8Aw"}}'
    now = stage.service.clock()
    sent = str(now // SECOND)
    signed = hmac.new(b"zoom-secret", b"v0:" + sent.encode() + b":" + raw, hashlib.sha256).hexdigest()
    headers = (("x-zm-request-timestamp", sent), ("x-zm-signature", f"v0={signed}"))
    request = InboundRequest("POST", "/", "", (), headers, raw, "192.0.2.1", now)
    answer = app_events.receive(stage.service, "zoom", client.id, request)
    expected = hmac.new(b"zoom-secret", b"qgg8vlvZRS6UYooatFL8Aw", hashlib.sha256).hexdigest()
    assert json.loads(answer.body) == {"plainToken": "qgg8vlvZRS6UYooatFL8Aw", "encryptedToken": expected}


@pytest.fixture
def jira(slack_bench: Bench) -> Jira:
    return Jira(slack_bench.app("jira"), {}, {}, now=slack_bench.service.clock())


@pytest.fixture
def jira_stage(slack_bench: Bench, jira: Jira) -> Iterator[JiraStage]:
    """People whose triggers watch the issues of a site."""
    with opened(JiraStage(slack_bench, jira, KEY, PUBLIC)) as stage:
        yield stage


def test_jira_notifies_at_the_address_of_the_client_and_each_trigger_sees_its_own(
    jira_stage: JiraStage, jira: Jira
) -> None:
    alice, bob = jira_stage.deploy("alice"), jira_stage.deploy("bob", project_id="10000")
    jira_stage.work()
    (of_alice, one), (of_bob, two) = jira.webhooks.items()
    assert {each["url"] for each in (one, two)} == {f"{PUBLIC}/h/app/jira/{jira_stage.client.id}"}
    assert (one["jqlFilter"], two["jqlFilter"]) == ("project != NULL", "project = 10000")
    jira_stage.after(MINUTE)
    jira_stage.change("alice", 1)
    jira_stage.change("bob", 2)
    assert jira_stage.tell([of_alice, 77]).status == 202
    jira_stage.after(10 * SECOND)
    assert (jira_stage.told(alice), jira_stage.told(bob)) == (["PRJ-1 Issue 1"], [])
    jira_stage.after(15 * MINUTE)  # who is not notified polls at the times of the trigger
    assert (jira_stage.told(alice), jira_stage.told(bob)) == (["PRJ-1 Issue 1"], ["PRJ-2 Issue 2"])
    deployments.delete(jira_stage.service, alice)
    assert list(jira.webhooks) == [of_bob]


def test_a_notification_of_jira_that_its_secret_did_not_sign_is_refused(jira_stage: JiraStage, jira: Jira) -> None:
    alice = jira_stage.deploy("alice")
    jira_stage.work()
    looks_at = row(jira_stage.service, alice)["next_run_at"]
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for forged in (
        "",
        "Bearer ",
        "Bearer a.b.c",
        f"JWT {jira_stage.token()}",
        f"Bearer {unsigned}.{jira_stage.token().split('.')[1]}.",
        *(
            f"Bearer {jira_stage.token(**changes)}"
            for changes in (
                {"secret": "another client secret"},
                {"age": 5 * MINUTE // SECOND},
                {"age": -5 * MINUTE // SECOND},
                {"algorithm": "HS512"},
            )
        ),
    ):
        answer = jira_stage.tell(list(jira.webhooks), forged)
        assert (answer.status, "The signature does not fit." in answer.body) == (401, True), forged
    assert jira_stage.tell(list(jira.webhooks), body=b"[").status == 400
    assert jira_stage.tell({"not": "a list"}).status == 202
    assert row(jira_stage.service, alice)["next_run_at"] == looks_at


def test_webhooks_of_jira_are_renewed_and_made_anew_where_jira_lost_them(jira_stage: JiraStage, jira: Jira) -> None:
    alice = jira_stage.deploy("alice")
    jira_stage.work()
    (hook,) = jira.webhooks
    for _ in range(3):
        jira.now += 21 * DAY
        jira_stage.after(21 * DAY)
        assert jira.webhooks[hook]["ends"] > jira_stage.clock() + 20 * DAY
    assert jira.asked == ["POST webhook", *["PUT webhook/refresh"] * 3]
    jira.webhooks.clear()
    jira.now += 21 * DAY
    jira_stage.after(21 * DAY)
    (new,) = jira.webhooks
    assert new != hook
    keys = jira_stage.service.store.all(
        "SELECT account_key FROM event_listeners WHERE trigger_id = :id", {"id": alice.id}
    )
    assert [each["account_key"] for each in keys] == [event_listeners.hook_key(new)]


def test_who_may_not_make_a_webhook_of_jira_polls_and_is_told_why(jira_stage: JiraStage, jira: Jira) -> None:
    triggers = [jira_stage.deploy("alice") for _ in range(AT_MOST + 1)]
    jira_stage.work()
    assert len(jira.webhooks) == AT_MOST
    found = [subscriptions.find(jira_stage.service.store, each.id) for each in triggers]
    (error,) = [each.error for each in found if each is not None and each.error]
    assert error == "The app did not create a webhook: There are 5 webhooks already."
    jira.may_watch = False
    bob = jira_stage.deploy("bob")
    jira_stage.work()
    jira_stage.change("bob", 3)
    jira_stage.after(15 * MINUTE)
    assert jira_stage.told(bob) == ["PRJ-3 Issue 3"]
    other = subscriptions.find(jira_stage.service.store, bob.id)
    assert other is not None
    assert "manage:jira-webhook" in (other.error or "")


@pytest.fixture
def gmail(slack_bench: Bench) -> Gmail:
    return Gmail(slack_bench.app("gmail"), {}, {}, now=slack_bench.service.clock())


@pytest.fixture
def gmail_stage(slack_bench: Bench, gmail: Gmail) -> Iterator[GmailStage]:
    """People whose triggers watch their mailboxes, with a client that has a topic."""
    with in_process(gmail), opened(GmailStage(slack_bench, gmail, gmail_watch.KEY, PUBLIC)) as stage:
        stage.client = oauth_apps.add(
            stage.service, app="gmail", client_id="g", client_secret="s", project_id=stage.scene.project_id,
            events_secret=TOPIC,
        )  # fmt: skip
        yield stage


def test_gmail_notifies_through_the_topic_of_the_client_whose_mailbox_changed(
    gmail_stage: GmailStage, gmail: Gmail
) -> None:
    alice, bob = gmail_stage.deploy("alice"), gmail_stage.deploy("bob")
    gmail_stage.work()
    assert gmail.watches == dict.fromkeys(("alice", "bob"), (TOPIC, gmail.now + gmail_watch.LASTS))
    gmail_stage.after(MINUTE)
    gmail.mailboxes = {"alice": ["hello"], "bob": ["hi"]}
    assert (gmail_stage.tell("alice").status, gmail_stage.tell("nobody").status) == (202, 202)
    gmail_stage.work()
    assert (gmail_stage.told(alice), gmail_stage.told(bob)) == (["hello"], [])
    gmail_stage.after(5 * MINUTE)
    assert (gmail_stage.told(alice), gmail_stage.told(bob)) == (["hello"], ["hi"])
    assert gmail_stage.tell("alice", body=b"[]").status == 400
    assert gmail_stage.tell("alice", body=b'{"message": {"data": "%%%"}}').status == 400


def test_what_another_than_the_pub_sub_of_the_topic_pushes_is_refused(gmail_stage: GmailStage, gmail: Gmail) -> None:
    alice = gmail_stage.deploy("alice")
    gmail_stage.work()
    looks_at = row(gmail_stage.service, alice)["next_run_at"]
    now = gmail_stage.clock() // SECOND
    public = OctKey.import_key(str(FIRST.as_dict(private=False)["n"]), {"kid": "k1"})
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none","kid":"k1"}').decode().rstrip("=")
    for forged in (
        "",
        "Bearer ",
        "Bearer a.b.c",
        gmail_stage.token(),
        f"Basic {gmail_stage.token()}",
        f"Bearer {unsigned}.{gmail_stage.token().split('.')[1]}.",
        f"Bearer {gmail_stage.token(key=SECOND_KEY)}",
        f"Bearer {gmail_stage.token(key=public, algorithm='HS256')}",
        *(
            f"Bearer {gmail_stage.token(**changes)}"
            for changes in (
                {"aud": "https://patchbay.example/h/app/gmail/oa_other"},
                {"iss": "https://accounts.example"},
                {"exp": now - 61},
                {"exp": None},
                {"email_verified": False},
                {"email": None},
                {"email": "pushes@evil.iam.gserviceaccount.com"},
                {"email": f"{SENDER}.evil.example"},
                {"email": "acme-mail.iam.gserviceaccount.com"},
            )
        ),
    ):
        assert gmail_stage.tell("alice", forged).status == 401, forged
    assert row(gmail_stage.service, alice)["next_run_at"] == looks_at
    assert gmail.asked.count("certs") == 1, "who sends what another key signed makes nobody fetch the keys each time"


def test_keys_that_google_changed_are_fetched_and_what_cannot_be_verified_now_is_sent_again(
    gmail_stage: GmailStage, gmail: Gmail
) -> None:
    gmail.keys = []
    with pytest.raises(Unavailable, match="keys could not be fetched"):
        gmail_stage.tell("alice")
    gmail.keys = [FIRST]
    gmail_stage.clock.advance(RETRY_MS)  # type: ignore[attr-defined]
    assert gmail_stage.tell("alice").status == 202
    gmail.keys = [SECOND_KEY]
    gmail_stage.clock.advance(MINUTE)  # type: ignore[attr-defined]
    assert gmail_stage.tell("alice", f"Bearer {gmail_stage.token(key=SECOND_KEY)}").status == 202


def test_who_sends_what_is_no_token_makes_nobody_fetch_the_keys(gmail_stage: GmailStage, gmail: Gmail) -> None:
    gmail.keys = []
    public = OctKey.import_key(str(FIRST.as_dict(private=False)["n"]), {"kid": "k1"})
    by_secret = gmail_stage.token(key=public, algorithm="HS256")
    assert [gmail_stage.tell("alice", f"Bearer {sent}").status for sent in ("x", "a.b.c", by_secret)] == [401] * 3
    assert "certs" not in gmail.asked


def test_a_mailbox_is_watched_until_the_last_of_its_triggers_is_off(gmail_stage: GmailStage, gmail: Gmail) -> None:
    account = gmail_stage.connect("alice").id
    triggers = [gmail_stage.deploy("alice", gmail={"authProvisionId": account}) for _ in range(2)]
    gmail_stage.work()
    for _ in range(3):
        gmail.now += 5 * DAY
        gmail_stage.after(5 * DAY)
        assert gmail.watches["alice"][1] == gmail.now + gmail_watch.LASTS
    deployments.delete(gmail_stage.service, triggers[0])
    assert "alice" in gmail.watches
    deployments.update(gmail_stage.service, triggers[1], deployments.Change(active=False))
    assert gmail.watches == {}


def test_triggers_poll_without_a_topic_and_are_notified_once_one_is_entered(
    gmail_stage: GmailStage, gmail: Gmail
) -> None:
    service = gmail_stage.service
    gmail_stage.client = oauth_apps.add(
        service, app="gmail", client_id="n", client_secret="s", project_id=gmail_stage.scene.project_id
    )
    alice = gmail_stage.deploy("alice")
    gmail_stage.work()
    gmail.mailboxes["alice"] = ["hello"]
    gmail_stage.after(5 * MINUTE)
    assert (gmail_stage.told(alice), gmail.watches) == (["hello"], {})
    assert (gmail_stage.tell("alice").status, subscriptions.find(service.store, alice.id)) == (401, None)
    for topic in (TOPIC, OTHER):
        gmail_stage.client = oauth_apps.update(service, gmail_stage.client, events_secret=topic)
        assert subscriptions.begin(service, gmail_stage.client.id) == 1
        gmail_stage.work()
        assert gmail.watches["alice"][0] == topic
    gmail.mailboxes["alice"].append("again")
    gmail_stage.after(MINUTE)
    assert gmail_stage.tell("alice").status == 202
    gmail_stage.work()
    assert gmail_stage.told(alice) == ["hello", "again"]
