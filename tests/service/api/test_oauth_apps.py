"""A project's own OAuth clients over the API: registering, checking and sharing them among the apps of a provider."""

from typing import Any

import pytest

from webapp.service.domain.accounts import events_secrets, oauth_app_checks, oauth_apps
from webapp.service.domain.accounts.oauth_app_checks import ClientVerdict
from webapp.service.domain.projects import projects

NEW = {"app": "tinyoauth", "client_id": "abc", "client_secret": "canary-secret", "scopes": ["profile"]}
CLIENT = {"app": "gmail", "client_id": "c.apps.googleusercontent.com", "client_secret": "canary-secret"}
UNKNOWN = ClientVerdict("unknown", "Google does not know this client.")


@pytest.fixture
def made(world: Any) -> Any:
    """A client of the project."""
    answer = world.post("P/oauth_apps", world.server(), json=NEW)
    assert answer.status_code == 200, answer.text
    return answer.json


class TestClients:
    def test_an_answer_is_the_app_with_the_clients_own_fields_over_it(self, world: Any, made: Any) -> None:
        app = world.get("/v1/connect/apps/tinyoauth", world.server()).json["data"]
        own = {"id", "oauth_app_id", "client_id", "scopes", "additional_scopes", "redirect_uri", "owner_id",
               "created_at", "updated_at"}  # fmt: skip
        assert {name: value for name, value in made.items() if name not in own} == {
            name: value for name, value in app.items() if name not in own
        }
        assert made["id"].startswith("oa_") and made["client_id"] == "abc" and made["scopes"] == ["profile"]
        assert made["redirect_uri"] == f"{world.service.settings.public_url}/connect/oauth/callback/tinyoauth"
        assert made["owner_id"] == world.scene.project_id

    def test_the_secret_is_kept_and_never_shown(self, world: Any, made: Any) -> None:
        client = oauth_apps.get(world.service.store, made["id"])
        assert oauth_apps.secret(world.service, client) == "canary-secret"
        one, server = f"P/oauth_apps/{made['id']}", world.server()
        changed = world.call("PUT", one, server, json={"client_secret": "canary-other", "name": "Ours"})
        assert changed.json == made | {"name": "Ours", "updated_at": changed.json["updated_at"]}
        client = oauth_apps.get(world.service.store, made["id"])
        assert oauth_apps.secret(world.service, client) == "canary-other"
        for answer in (changed, world.get(one, server), world.get("P/oauth_apps", server)):
            assert "canary" not in answer.text and "client_secret" not in answer.text

    def test_the_secret_of_events_goes_in_and_where_they_come_is_reported(self, world: Any, made: Any) -> None:
        server = world.server()
        new = {"app": "slack", "client_id": "c", "client_secret": "s", "events_secret": "canary-events"}
        client_id = world.post("P/oauth_apps", server, json=new).json["id"]
        answer = world.get(f"P/oauth_apps/{client_id}?extensions=true", server)
        assert answer.json["patchbay"]["events"] == {
            "uri": f"{world.service.settings.public_url}/h/app/slack/{client_id}",
            "address_name": "Request URL",
            "secret_name": "Signing Secret",
            "has_secret": True,
            "brings_secret": False,
            "takes_topic": False,
            "secret_sent_at": None,
        }
        changed = world.call("PUT", f"P/oauth_apps/{client_id}", server, json={"events_secret": "canary-other"})
        client = oauth_apps.get(world.service.store, client_id)
        assert events_secrets.of(world.service, client) == "canary-other"
        assert "canary" not in answer.text + changed.text
        refused = world.call("PUT", f"P/oauth_apps/{made['id']}", server, json={"events_secret": "x"})
        assert (refused.status_code, refused.json["details"][0]["field"]) == (400, "events_secret")

    def test_the_topic_of_a_client_is_checked_and_kept(self, world: Any) -> None:
        server, new = (
            world.server(),
            {"app": "gmail", "client_id": "1-a.apps.googleusercontent.com", "client_secret": "s"},
        )
        for wrong in (
            "gmail",
            "projects/acme-mail/topics/",
            "projects/Acme/topics/gmail",
            " projects/acme/topics/gmail",
        ):
            refused = world.post("P/oauth_apps", server, json={**new, "events_secret": wrong})
            assert refused.json["details"][0]["field"] == "events_secret", wrong
            assert "such as projects/acme-mail/topics/gmail" in refused.text
        client_id = world.post("P/oauth_apps", server, json=new).json["id"]
        topic = "projects/acme-mail/topics/gmail"
        assert world.call("PUT", f"P/oauth_apps/{client_id}", server, json={"events_secret": topic}).status_code == 200
        events = world.get(f"P/oauth_apps/{client_id}?extensions=true", server).json["patchbay"]["events"]
        assert (events["secret_name"], events["takes_topic"], events["has_secret"]) == ("Topic", True, True)
        assert events_secrets.of(world.service, oauth_apps.get(world.service.store, client_id)) == topic

    def test_the_list_and_its_filters(self, world: Any, made: Any) -> None:
        server = world.server()
        for query in ("", "?app=tinyoauth", f"?app={world.service.catalog.app('tinyoauth').id}", "?q=TINY"):
            answer = world.get(f"P/oauth_apps{query}", server).json
            assert ([one["id"] for one in answer["data"]], answer["page_info"]["total_count"]) == ([made["id"]], 1)
        named = world.post("P/oauth_apps", server, json={**NEW, "name": "Ärzte"}).json
        for query in ("ärzte", "ÄRZT"):
            found = world.get(f"P/oauth_apps?q={query}", server).json
            assert [one["id"] for one in found["data"]] == [named["id"]], query
        assert world.call("DELETE", f"P/oauth_apps/{named['id']}", server).status_code == 204
        assert world.get("P/oauth_apps?app=tinykeys", server).json["data"] == []
        oauth_apps.add(world.service, app="tinyoauth", client_id="op", client_secret="s")
        assert world.get("P/oauth_apps", server).json["page_info"]["total_count"] == 1, "the operator's is not listed"

    @pytest.mark.parametrize(
        "change, field",
        [
            ({"app": "tinykeys"}, "app"), ({"app": "nothing"}, "app"), ({"client_secret": ""}, "client_secret"),
            ({"client_id": None}, "client_id"), ({"scopes": ["a b"]}, "scopes.0"), ({"scopes": "profile"}, "scopes"),
        ],
    )  # fmt: skip
    def test_what_is_no_client_is_refused(self, shared: Any, change: Any, field: str) -> None:
        answer = shared.post("P/oauth_apps", shared.server(), json=NEW | change)
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, field)

    def test_accounts_hold_on_to_their_client(self, world: Any, made: Any) -> None:
        one, server = f"P/oauth_apps/{made['id']}", world.server()
        account = world.plant(app="tinyoauth", oauth_app_id=made["id"])
        refused = world.call("DELETE", one, server)
        assert refused.status_code == 409 and "One account was connected" in refused.json["error"]
        assert world.call("PUT", one, server, json={"client_id": "other"}).status_code == 409
        assert world.call("PUT", one, server, json={"client_id": "abc", "name": "x"}).status_code == 200
        assert world.call("DELETE", f"P/accounts/{account.id}", server).status_code == 204
        assert world.call("DELETE", one, server).status_code == 204
        assert world.get(one, server).status_code == 404

    def test_another_projects_client_and_the_operators_are_like_absent_ones(self, world: Any, made: Any) -> None:
        server, other = world.server(), projects.create(world.service, name="Other")
        theirs = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s", project_id=other.id)
        operators = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
        absent = world.get("P/oauth_apps/oa_none", server)
        for client in (theirs, operators):
            for method in ("GET", "DELETE"):
                answer = world.call(method, f"P/oauth_apps/{client.id}", server)
                assert (answer.status_code, answer.data) == (404, absent.data)
        assert world.get(f"P/oauth_apps/{made['id']}", server, env="production").status_code == 200, "both share it"


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
    return world.post("P/oauth_apps", world.server(), json=CLIENT).json


def test_a_check_tells_and_changes_nothing(world: Any, gmail: Any, asked: list[Any]) -> None:
    answer = world.post(f"P/oauth_apps/{gmail['id']}/check", world.server())
    assert answer.json == {"verdict": "unknown", "sentence": UNKNOWN.sentence}
    assert asked[0] == ("gmail", CLIENT["client_id"], "canary-secret", gmail["redirect_uri"])
    assert world.get(f"P/oauth_apps/{gmail['id']}", world.server()).json == gmail


def test_a_client_that_is_not_known_is_not_kept(world: Any, asked: list[Any]) -> None:
    server = world.server()
    refused = world.post("P/oauth_apps", server, json=CLIENT | {"check": True})
    assert refused.status_code == 400 and refused.json["details"] == [
        {"field": "client_id", "message": UNKNOWN.sentence}
    ]
    assert "canary" not in refused.text
    assert world.get("P/oauth_apps", server).json["data"] == []
    asked[-1] = ClientVerdict("unchecked", "It could not be checked.")
    kept = world.post("P/oauth_apps", server, json=CLIENT | {"check": True})
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
    assert use.pop("events")["secret_name"] == "Topic"
    assert use == {
        "app_name": "Gmail", "accounts": 0, "shared_with": ["google_drive"], "used_for_new": True,
        "installation_has_one": False,
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
    events_secrets.keep_handshake(world.service, client, "canary-sent")
    shown = world.get(f"{place}?extensions=true", server)
    assert shown.json["patchbay"]["events"]["secret_sent_at"] and "canary" not in shown.text
    assert world.post(f"{place}/events_secret", server).json == {"events_secret": "canary-sent"}
    events = world.get(f"{place}?extensions=true", server).json["patchbay"]["events"]
    assert (events["has_secret"], events["secret_sent_at"]) == (True, None)
    assert world.post(f"{place}/events_secret", server).status_code == 409
