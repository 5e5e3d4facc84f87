"""GitHub's triggers, against a fake written from https://docs.github.com/en/webhooks and /en/rest (2022-11-28)."""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged
from webapp.service.catalog.shared.webhooks import hmac_sha256
from webapp.service.components.calls import Reply

REPOSITORY = "octocat/hello-world"
HOOKS = f"/repos/{REPOSITORY}/hooks"
COMMON = {"repository": {"id": 1, "full_name": REPOSITORY}, "sender": {"login": "octocat"}}
ISSUE = {"number": 1347, "title": "Found a bug — oh", "created_at": "2030-01-31T08:00:00Z"}
PUSH = {"ref": "refs/heads/main", "deleted": False, "commits": [{"id": "1"}, {"id": "2"}], "pusher": {"name": "ada"}}


@pytest.fixture
def github(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("github", oauth_access_token="gho_1")
    made.on(f"POST {HOOKS}", lambda asked: FakeAnswer(201, {"id": 12345678, **asked.json}))
    made.on(f"DELETE {HOOKS}/12345678", FakeAnswer(204))
    return made


def switched_on(github: AppHarness, trigger: str, **props: Any) -> TriggerHarness:
    harness = github.trigger(trigger, repository=REPOSITORY, **props)
    harness.activate()
    return harness


def deliver(
    harness: TriggerHarness, event: str, payload: dict[str, Any], secret: str | None = None, id: str = "d-1"
) -> Reply:
    """A delivery as https://docs.github.com/en/webhooks/webhook-events-and-payloads describes its headers."""
    raw = json.dumps(payload, ensure_ascii=False)
    digest = hmac.new((secret or harness.state["secret"]).encode(), raw.encode(), hashlib.sha256).hexdigest()
    signed = {"X-GitHub-Event": event, "X-GitHub-Delivery": id, "X-Hub-Signature-256": f"sha256={digest}"}
    return harness.receive(raw, signed)


def test_the_signature_is_the_one_of_the_reference() -> None:
    """The example of https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries."""
    expected = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert hmac_sha256("It's a Secret to Everybody", "Hello, World!") == expected


@pytest.mark.parametrize(("trigger", "event"), [("new-issue", "issues"), ("new-push", "push"), ("new-star", "star")])
def test_a_webhook_is_registered_and_removed(github: AppHarness, trigger: str, event: str) -> None:
    harness = switched_on(github, trigger)
    asked = github.last.json
    secret = asked["config"].pop("secret")
    config = {"url": ENDPOINT, "content_type": "json", "insecure_ssl": "0"}
    assert asked == {"name": "web", "active": True, "events": [event], "config": config}
    assert (len(secret), harness.state["secret"]) == (43, secret)

    harness.deactivate()
    assert github.last.what == f"DELETE {HOOKS}/12345678"
    assert (harness.state["hook"], harness.state["secret"]) == (None, None)
    ours = {"id": 5, "config": {"url": ENDPOINT}}
    github.on(f"GET {HOOKS}", [{"id": 4, "config": {"url": "https://other.example/"}}, ours])
    github.on(f"DELETE {HOOKS}/5", FakeAnswer(204, {}))
    asked_before = len(github.provider.asked)
    harness.deactivate()  # as after an activation that was interrupted: its id got lost
    assert [asked.what.partition("?")[0] for asked in github.provider.asked[asked_before:]] == [
        f"GET {HOOKS}",
        f"DELETE {HOOKS}/5",
    ]


def test_a_webhook_that_is_gone_already_is_forgotten_and_one_that_stays_is_reported(github: AppHarness) -> None:
    harness = switched_on(github, "new-issue")
    github.on(f"DELETE {HOOKS}/12345678", FakeAnswer(502, {"message": "Server Error"}))
    assert harness.refuses("deactivate") == "The webhook could not be removed: the app answered with status 502."
    github.on(f"DELETE {HOOKS}/12345678", FakeAnswer(404, {"message": "Not Found"}))
    harness.deactivate()
    assert harness.state["hook"] is None


def test_why_github_refuses_a_webhook_is_passed_on(github: AppHarness) -> None:
    why = "Sorry, the URL host localhost is not supported because it isn't reachable over the public Internet"
    errors = [{"resource": "Hook", "code": "custom", "message": why}]
    github.on(f"POST {HOOKS}", FakeAnswer(422, {"message": "Validation Failed", "errors": errors}))
    said = github.trigger("new-push", repository=REPOSITORY).refuses("activate")
    assert said == f"The app answered with status 422: Validation Failed: {why}"


@pytest.mark.parametrize(
    ("trigger", "event", "payload", "summary"),
    [
        ("new-issue", "issues", {"action": "opened", "issue": ISSUE}, "#1347 Found a bug — oh"),
        ("new-push", "push", PUSH, "2 commits to main by ada"),
        ("new-star", "star", {"action": "created", "starred_at": "2030-01-31T08:00:00Z"},
         "octocat starred octocat/hello-world"),
    ],
)  # fmt: skip
def test_what_is_signed_is_emitted(
    github: AppHarness, trigger: str, event: str, payload: dict[str, Any], summary: str
) -> None:
    harness = switched_on(github, trigger)
    (emitted,) = deliver(harness, event, payload | COMMON).events
    assert (emitted.event, emitted.id, emitted.summary) == (payload | COMMON, "d-1", summary)
    if event == "issues":
        assert emitted.ts == 1896076800000
    (again,) = deliver(harness, event, payload | COMMON).events  # a redelivery has the id of the first: dedupe ends it
    assert again.id == emitted.id


@pytest.mark.parametrize(
    ("trigger", "event", "payload"),
    [
        ("new-issue", "ping", {"zen": "Design for failure.", "hook_id": 12345678}),
        ("new-issue", "issues", {"action": "closed", "issue": ISSUE}),
        ("new-star", "star", {"action": "deleted", "starred_at": None}),
        ("new-push", "push", PUSH | {"ref": "refs/tags/v1"}),
        ("new-push", "push", PUSH | {"deleted": True, "commits": []}),
    ],
)
def test_what_nobody_asked_for_is_left_out(
    github: AppHarness, trigger: str, event: str, payload: dict[str, Any]
) -> None:
    reply = deliver(switched_on(github, trigger), event, payload | COMMON)
    assert (reply.events, logged(reply)) == ((), "")


def test_only_the_branch_that_was_chosen(github: AppHarness) -> None:
    harness = switched_on(github, "new-push", branch="main")
    assert len(deliver(harness, "push", PUSH | COMMON).events) == 1
    assert deliver(harness, "push", PUSH | COMMON | {"ref": "refs/heads/feature/main"}).events == ()


def test_a_forged_request_is_ignored_and_reported(github: AppHarness) -> None:
    harness = switched_on(github, "new-issue")
    payload = {"action": "opened", "issue": ISSUE} | COMMON
    told = "A request was ignored: its signature is not the one of GitHub, or the secret has changed."
    for reply in (
        deliver(harness, "issues", payload, secret="guessed"),
        harness.receive(payload, {"X-GitHub-Event": "issues"}),
        harness.receive(payload, {"X-GitHub-Event": "issues", "X-Hub-Signature-256": "sha256=é"}),
    ):
        assert (reply.events, logged(reply)) == ((), told)


def test_a_request_before_the_secret_is_kept_is_tried_again(github: AppHarness) -> None:
    harness = github.trigger("new-issue", repository=REPOSITORY)
    event = {"headers": {}, "bodyRaw": "{}", "body": {}}
    assert harness.refuses("run", event) == "A request came before the webhook was in place. It is tried again."


def release(number: int, at: str, **more: Any) -> dict[str, Any]:
    """As https://docs.github.com/en/rest/releases/releases#list-releases has it."""
    plain = {"id": number, "tag_name": f"v{number}", "name": None, "draft": False, "prerelease": False}
    return plain | {"published_at": f"2030-01-{at}T08:00:00Z"} | more


def test_releases_are_emitted_once_when_they_are_published(github: AppHarness) -> None:
    releases = [release(number, f"{number:02}") for number in range(8, 0, -1)]
    github.on(f"GET /repos/{REPOSITORY}/releases", releases)
    harness = github.trigger("new-release", repository=REPOSITORY)
    assert [one.id for one in harness.deploy()] == ["4", "5", "6", "7", "8"]
    assert github.last.query == {"per_page": "100"}
    assert harness.tick() == []

    # A draft that is older than the last release is published; another release bears the time of the last.
    draft = release(2, "20", draft=True, published_at=None)
    github.on(f"GET /repos/{REPOSITORY}/releases", [release(9, "08", name="Nine"), draft, *releases])
    assert [(one.id, one.summary) for one in harness.tick()] == [("9", "Nine")]
    github.on(f"GET /repos/{REPOSITORY}/releases", [draft | release(10, "20"), release(11, "21", prerelease=True)])
    assert [(one.id, one.summary) for one in harness.tick()] == [("10", "v10")]
    assert harness.tick() == []
    harness.props["prereleases"] = True
    assert [one.id for one in harness.tick()] == ["11"]
