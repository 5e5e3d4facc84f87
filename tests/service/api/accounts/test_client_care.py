"""Checking a project's OAuth clients, and sharing one among the apps of a provider."""

from typing import Any

import pytest

from webapp.service.domain.accounts import oauth_app_checks, oauth_apps
from webapp.service.domain.accounts.oauth_app_checks import ClientVerdict

NEW = {"app": "gmail", "client_id": "c.apps.googleusercontent.com", "client_secret": "canary-secret"}
UNKNOWN = ClientVerdict("unknown", "Google does not know this client.")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What providers are asked; the last one is the answer, which is first that they do not know the client."""
    seen: list[Any] = [UNKNOWN]

    def check(_service: Any, app: Any, *what: Any) -> ClientVerdict:
        seen.insert(-1, (app.slug, *what[:3]))
        verdict: ClientVerdict = seen[-1]
        return verdict

    monkeypatch.setattr(oauth_app_checks, "check", check)
    return seen


@pytest.fixture
def gmail(world: Any) -> Any:
    return world.post("P/oauth_apps", world.server(), json=NEW).json


def test_a_check_tells_and_changes_nothing(world: Any, gmail: Any, asked: list[Any]) -> None:
    answer = world.post(f"P/oauth_apps/{gmail['id']}/check", world.server())
    assert answer.json == {"verdict": "unknown", "sentence": UNKNOWN.sentence}
    assert asked[0] == ("gmail", NEW["client_id"], "canary-secret", gmail["redirect_uri"])
    assert world.get(f"P/oauth_apps/{gmail['id']}", world.server()).json == gmail


def test_a_client_that_is_not_known_is_not_kept(world: Any, asked: list[Any]) -> None:
    server = world.server()
    refused = world.post("P/oauth_apps", server, json=NEW | {"check": True})
    assert refused.status_code == 400 and refused.json["details"] == [
        {"field": "client_id", "message": UNKNOWN.sentence}
    ]
    assert "canary" not in refused.text
    assert world.get("P/oauth_apps", server).json["data"] == []
    asked[-1] = ClientVerdict("unchecked", "It could not be checked.")
    kept = world.post("P/oauth_apps", server, json=NEW | {"check": True})
    assert kept.status_code == 200
    assert kept.json["check"] == {"verdict": "unchecked", "sentence": "It could not be checked."}
    asked[-1] = ClientVerdict("redirect_uri", "Enter it.")
    one, change = f"P/oauth_apps/{kept.json['id']}", {"client_secret": "canary-new", "check": True}
    refused = world.call("PUT", one, server, json=change)
    assert (refused.status_code, refused.json["details"][0]["field"]) == (400, "redirect_uri")
    client = oauth_apps.get(world.service.store, kept.json["id"])
    assert oauth_apps.secret(world.service, client) == "canary-secret"
    asked[-1] = ClientVerdict("known", "Known.")
    assert world.call("PUT", one, server, json=change).status_code == 200
    assert asked[-2][2] == "canary-new"


def test_a_client_is_shared_within_its_family(world: Any, gmail: Any) -> None:
    server, share = world.server(), f"P/oauth_apps/{gmail['id']}/share"
    drive = world.post(share, server, json={"app": "google_drive"})
    assert drive.status_code == 200, drive.text
    shown = {name: drive.json[name] for name in ("client_id", "redirect_uri", "name_slug")}
    assert shown == {
        "client_id": gmail["client_id"], "redirect_uri": gmail["redirect_uri"], "name_slug": "google_drive",
    }  # fmt: skip
    assert drive.json["id"] != gmail["id"]
    assert world.post(share, server, json={"app": "google_drive"}).status_code == 409
    for app in ("github", "tinykeys", "gmail", "nothing"):
        answer = world.post(share, server, json={"app": app})
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "app")
    listed = world.get("P/oauth_apps?extensions=true", server).json["data"]
    assert {each["name_slug"]: each["patchbay"]["shared_with"] for each in listed} == {
        "gmail": ["google_drive"], "google_drive": ["gmail"],
    }  # fmt: skip
    use = world.get(f"P/oauth_apps/{gmail['id']}?extensions=true", server).json["patchbay"]
    assert use == {
        "app_name": "Gmail", "accounts": 0, "shared_with": ["google_drive"], "used_for_new": True,
        "installation_has_one": False, "events": None,
    }  # fmt: skip
    assert "patchbay" not in world.get(f"P/oauth_apps/{gmail['id']}", server).json


def test_frontends_and_readers_may_do_neither(world: Any, gmail: Any) -> None:
    for token in (world.frontend(), world.server("connect:projects:read")):
        for verb, body in (("check", None), ("share", {"app": "google_drive"})):
            answer = world.post(f"P/oauth_apps/{gmail['id']}/{verb}", token, json=body)
            assert answer.status_code == 403


def test_the_secret_that_a_provider_sent_is_shown_to_whoever_takes_it_once(world: Any) -> None:
    server = world.server()
    made = world.post("P/oauth_apps", server, json={"app": "notion", "client_id": "n", "client_secret": "s"}).json
    place, client = f"P/oauth_apps/{made['id']}", oauth_apps.get(world.service.store, made["id"])
    assert world.post(f"{place}/events_secret", server).status_code == 409
    oauth_apps.keep_handshake(world.service, client, "canary-sent")
    shown = world.get(f"{place}?extensions=true", server)
    assert shown.json["patchbay"]["events"]["secret_sent_at"] and "canary" not in shown.text
    assert world.post(f"{place}/events_secret", server).json == {"events_secret": "canary-sent"}
    events = world.get(f"{place}?extensions=true", server).json["patchbay"]["events"]
    assert (events["has_secret"], events["secret_sent_at"]) == (True, None)
    assert world.post(f"{place}/events_secret", server).status_code == 409
