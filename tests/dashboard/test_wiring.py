"""The dashboard in an application: every noun has its place, and nothing of it reaches other routes."""

from typing import Any

import pytest

from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.dashboard import KEY
from webapp.dashboard.shell import BUILD

NOUNS = {
    "account", "accounts", "activity", "agents", "agents_consent", "app_setup", "apps", "audit", "component",
    "components", "connections", "deletion", "deliveries", "deploying", "invitation", "moving", "new_password", "oidc",
    "passkey", "passkeys", "pausing", "portal", "runs", "scene", "second_step", "session", "settings", "start",
    "trigger", "trigger_workflows", "triggers", "two_step", "webhooks",
}  # fmt: skip


def test_every_noun_is_served_and_the_start_page_is_the_list_of_apps(stage: Any) -> None:
    endpoints = [rule.endpoint.split(".") for rule in stage.app.url_map.iter_rules()]
    nouns = {parts[1] for parts in endpoints if parts[0] == "dashboard" and len(parts) > 2}
    assert {noun for noun in nouns if not noun.startswith("build_")} == NOUNS
    assert nouns >= {f"build_{noun}" for noun in BUILD}
    answer = stage.signed_in().get("/")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/apps")


def test_routes_beside_it_keep_their_own_gate_headers_and_errors(stage: Any) -> None:
    stage.app.add_url_rule("/elsewhere", "elsewhere", lambda: "<p>ours</p>", methods=["GET", "POST"])
    visitor = stage.app.test_client()
    for answer in (visitor.get("/elsewhere"), visitor.post("/elsewhere")):
        assert (answer.status_code, answer.text) == (200, "<p>ours</p>")
        assert "Content-Security-Policy" not in answer.headers
    assert visitor.get("/apps").status_code == 303


def test_the_embedded_service_needs_no_socket_and_another_one_does(stage: Any, make_stage: Any) -> None:
    remote = {"PATCHBAY_CONNECT_URL": "http://127.0.0.1:9", "PATCHBAY_CONNECT_CLIENT_ID": "client",
              "PATCHBAY_CONNECT_CLIENT_SECRET": "secret", "PATCHBAY_PROJECT": "proj_Fake1"}  # fmt: skip
    other = make_stage(**remote)
    with stage.request():
        assert stage.app.extensions[KEY].client.create_token({"external_user_id": "u"})["token"].startswith("ctok_")
    with pytest.raises(ServiceDown, match="does not answer right now"):
        other.app.extensions[KEY].client.create_token({"external_user_id": "u"})
    assert other.connect.seen == []
    other.app.extensions[KEY].client.transport.close()
