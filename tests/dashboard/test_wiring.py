"""The dashboard in an application: every noun has its place, and nothing of it reaches other routes."""

import re
from pathlib import Path
from typing import Any

import pytest

from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.dashboard import KEY

FOLDER = Path(__file__).parents[2] / "webapp" / "dashboard"
MADE = re.compile(r'\b(?:Blueprint\("(\w+)"|blueprint\(\s*"(\w+)"|part_of\("(\w+)", "(\w+)")')


def test_every_page_is_served_because_its_file_exists_and_the_start_page_is_the_list_of_apps(stage: Any) -> None:
    endpoints = [rule.endpoint.split(".") for rule in stage.app.url_map.iter_rules()]
    nouns = {parts[1] for parts in endpoints if parts[0] == "dashboard" and len(parts) > 2}
    made = [found for file in FOLDER.rglob("*.py") for found in MADE.findall(file.read_text("utf-8"))]
    named = {plain or "_".join(("build", *filter(None, parts))) for plain, *parts in made} - {
        "dashboard",
        "demo_link",
    }  # the last one only in a demo
    assert len(named) >= 40 and nouns == named
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
