"""Making Connect tokens by the rules of contract "Connect tokens", and validating them."""

import re
from typing import Any

import pytest

from webapp.kit.clock import SECOND, iso, parse_iso
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.projects import projects


@pytest.fixture
def server(world: Any) -> str:
    return str(world.server("connect:tokens:create"))


def create(world: Any, server: str, **body: Any) -> Any:
    return world.post("P/tokens", server, json={"external_user_id": "alice", **body})


def test_the_answer(world: Any, server: str) -> None:
    answer = create(world, server, project_id=world.scene.project_id, unknown={"x": 1})
    assert answer.status_code == 200 and set(answer.json) == {"token", "expires_at", "connect_link_url"}
    assert re.fullmatch(r"ctok_[0-9a-f]{32}", answer.json["token"])
    assert parse_iso(answer.json["expires_at"]) == world.clock() + 14_400 * SECOND
    address = "http://localhost:8600/_static/connect.html"
    assert answer.json["connect_link_url"] == f"{address}?token={answer.json['token']}&connectLink=true"


def test_everything_that_may_be_asked_is_kept(world: Any, server: str) -> None:
    client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
    wishes = {
        "allowed_origins": ["https://a.example"],
        "error_redirect_uri": "https://a.example/no",
        "success_redirect_uri": "https://a.example/yes",
        "webhook_uri": "https://a.example/hook",
        "expires_in": 60,
        "scope": "connect:accounts:read connect:accounts:write",
        "allow_progressive_scopes": True,
        "app_id": world.service.catalog.app("tinyoauth").id,
        "oauth_app_id": client.id,
    }
    kept = connect_tokens.verify(world.service, create(world, server, **wishes).json["token"])
    assert kept.allowed_origins == ("https://a.example",)
    assert kept.error_redirect_uri == wishes["error_redirect_uri"]
    assert kept.success_redirect_uri == wishes["success_redirect_uri"]
    assert connect_tokens.webhook_uri_of(world.service, kept) == wishes["webhook_uri"]
    assert kept.expires_at == world.clock() + 60 * SECOND
    assert kept.scopes == {"connect:accounts:read", "connect:accounts:write"}
    assert kept.allow_progressive_scopes
    assert (kept.app, kept.oauth_app_id) == ("tinyoauth", client.id)


def test_null_is_as_good_as_absent(world: Any, server: str) -> None:
    names = ("project_id allowed_origins error_redirect_uri success_redirect_uri webhook_uri expires_in scope "
             "allow_progressive_scopes app_id oauth_app_id")  # fmt: skip
    assert create(world, server, **dict.fromkeys(names.split())).status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("external_user_id", None), ("external_user_id", ""), ("external_user_id", 5), ("external_user_id", "x" * 251),
        ("external_user_id", "a\nb"), ("external_user_id", ["a"]),
        ("project_id", "proj_other"), ("project_id", "acme"), ("project_id", "proj_a-b"), ("project_id", "proj_a\n"),
        ("allowed_origins", "https://a.example"), ("allowed_origins", [1]), ("allowed_origins", ["*"]),
        ("allowed_origins", ["https://a.example/path"]), ("allowed_origins", {}),
        ("error_redirect_uri", "javascript:alert(1)"), ("success_redirect_uri", "ftp://x"), ("webhook_uri", 7),
        ("expires_in", 0), ("expires_in", 14_401), ("expires_in", 1.0), ("expires_in", "60"), ("expires_in", True),
        ("expires_in", 2**70), ("expires_in", -1),
        ("scope", "*"), ("scope", "connect:* *"), ("scope", "nope"), ("scope", ["connect:*"]),
        ("allow_progressive_scopes", "true"), ("allow_progressive_scopes", 1),
        ("app_id", "nothing"), ("app_id", 1), ("oauth_app_id", "oa_none"),
    ],
)  # fmt: skip
def test_what_is_refused_names_the_field(shared: Any, field: str, value: Any) -> None:
    answer = create(shared, shared.server(), **{field: value})
    assert answer.status_code == 400
    named = {detail["field"].split(".")[0] for detail in answer.json["details"]}
    assert named == {field}
    assert answer.json["error"] and all(detail["message"] for detail in answer.json["details"])


def test_every_wrong_field_is_named_at_once(world: Any, server: str) -> None:
    answer = world.post("P/tokens", server, json={"expires_in": 0, "scope": 1})
    assert {detail["field"] for detail in answer.json["details"]} == {"external_user_id", "expires_in", "scope"}


def test_another_projects_oauth_app_cannot_be_preset(world: Any, server: str) -> None:
    other = projects.create(world.service, name="Other")
    client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s", project_id=other.id)
    absent = create(world, server, oauth_app_id="oa_none")
    theirs = create(world, server, oauth_app_id=client.id)
    assert theirs.status_code == 400 and theirs.data == absent.data


def test_a_frontend_cannot_make_tokens(world: Any) -> None:
    answer = world.post("/v1/connect/tokens", world.frontend(), json={"external_user_id": "alice"})
    assert answer.status_code == 403


class TestValidate:
    """``GET /v1/connect/tokens/{ctok}/validate``."""

    def get(self, world: Any, token: str, **query: str) -> Any:
        return world.get(f"/v1/connect/tokens/{token}/validate", query_string=query)

    def test_a_live_token(self, world: Any) -> None:
        token = world.frontend(success_redirect_uri="https://a.example/ok", scope="connect:proxy")
        assert self.get(world, token).json == {
            "success": True,
            "app": None,
            "project_id": world.scene.project_id,
            "project_environment": "development",
            "project_app_name": "Acme App",
            "project_support_email": "help@acme.example",
            "success_redirect_uri": "https://a.example/ok",
            "error_redirect_uri": None,
            "oauth_app_id": None,
        }

    def test_extensions_tell_the_brand_its_end_and_whether_its_link_is_used_up(self, world: Any) -> None:
        project = projects.get(world.service.store, world.scene.project_id)
        projects.update(world.service, project, brand_hue=165)
        token, ends = world.frontend(), iso(world.clock() + 14_400 * SECOND)
        brand = {"project_brand_hue": 165, "project_logo_url": "", "expires_at": ends, "link_used": False}
        shown = self.get(world, token, extensions="true").json
        assert shown == shown | self.get(world, token).json | brand
        with world.service.store.write() as tx:
            connect_tokens.use_link(tx, connect_tokens.verify(world.service, token), "attempt")
        assert self.get(world, token, extensions="true").json["link_used"] is True

    def test_with_an_app(self, world: Any) -> None:
        app = world.service.catalog.app("tinykeys")
        for name in (app.slug, app.id):
            assert self.get(world, world.frontend(), app_id=name).json["app"] == app.api_dict

    def test_presets_count_unless_something_else_is_asked(self, world: Any) -> None:
        client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
        token = world.frontend(app="tinyoauth", oauth_app_id=client.id)
        found = self.get(world, token).json
        assert (found["app"]["name_slug"], found["oauth_app_id"]) == ("tinyoauth", client.id)
        assert found["app"]["oauth_app_id"] == client.id

    def test_with_an_account(self, world: Any) -> None:
        mine, bobs = world.plant("alice"), world.plant("bob")
        token = world.frontend("alice")
        assert self.get(world, token, account_id=mine.id).json["success"] is True
        theirs, absent = self.get(world, token, account_id=bobs.id), self.get(world, token, account_id="apn_none")
        assert theirs.json["success"] is False and theirs.data == absent.data
        assert self.get(world, token, account_id=mine.id, app_id="tinykeys").json["success"] is True
        assert self.get(world, token, account_id=mine.id, app_id="tinyoauth").data == absent.data
        made_for_another = world.frontend("alice", app="tinyoauth")  # its link reconnects the account by its own app
        assert self.get(world, made_for_another, account_id=mine.id).json["success"] is True

    def test_what_is_not_valid(self, world: Any) -> None:
        token, expired = world.frontend(), world.frontend(expires_in=1)
        world.clock.advance(SECOND)
        for answer in (
            self.get(world, expired),
            self.get(world, "ctok_" + "0" * 32),
            self.get(world, "nonsense"),
            self.get(world, token, app_id="nothing"),
            self.get(world, token, app_id="tinykeys", oauth_app_id="oa_none"),
            self.get(world, token, oauth_app_id="oa_none"),
        ):
            assert answer.status_code == 200 and answer.json["success"] is False
            assert set(answer.json) == {"success", "error"} and answer.json["error"].endswith(".")


def test_what_is_empty_is_as_good_as_absent(world: Any) -> None:
    names = ("app_id", "oauth_app_id", "success_redirect_uri", "error_redirect_uri", "webhook_uri", "scope")
    body = {"external_user_id": "alice", **dict.fromkeys(names, "")}
    answer = world.post("P/tokens", world.server(), json=body)
    assert answer.status_code == 200, answer.json
    validity = world.get(f"/v1/connect/tokens/{answer.json['token']}/validate").json
    assert (validity["success"], validity["success_redirect_uri"], validity["app"]) == (True, None, None)


def test_with_extensions_a_token_says_whose_it_is_and_what_it_may(world: Any) -> None:
    scope = "connect:accounts:read connect:accounts:write"
    token = world.frontend(scope=scope, allowed_origins=["https://a.example"], expires_in=60)
    path = f"/v1/connect/tokens/{token}/validate"
    shown = world.get(f"{path}?extensions=true").json
    assert (shown["external_user_id"], shown["scope"]) == ("alice", scope)
    assert shown["allowed_origins"] == ["https://a.example"] and shown["user_id"].startswith("exu_")
    assert parse_iso(shown["expires_at"]) == world.clock() + 60 * SECOND
    assert "external_user_id" not in world.get(path).json


def test_validating_refuses_a_bad_query_whatever_the_token(world: Any) -> None:
    assert world.get("/v1/connect/tokens/ctok_absent/validate?extensions=maybe").status_code == 400
