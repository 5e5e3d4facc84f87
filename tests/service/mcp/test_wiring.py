"""``/mcp`` in the web application: its methods, and pages of origins that a token allows."""

from typing import Any

from webapp.service.domain.access import connect_tokens


def test_it_answers_post_only(world: Any) -> None:
    for method in ("GET", "PUT", "DELETE", "OPTIONS"):
        answer = world.http.open("/mcp", method=method, headers=world.agent().headers)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_page_that_the_token_allows_reads_the_answer(world: Any) -> None:
    request = connect_tokens.TokenRequest("alice", allowed_origins=["https://app.example"])
    token = connect_tokens.create(world.service, world.scene, request, client_id=None)["token"]
    origin = {"Origin": "https://app.example"}
    asked = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-method"}
    preflight = world.http.options("/mcp", headers=asked)
    assert preflight.status_code == 204 and "mcp-method" in preflight.headers["Access-Control-Allow-Headers"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = world.http.post("/mcp", json=body, headers={**origin, "Authorization": f"Bearer {token}"})
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert "mcp-session-id" in answer.headers["Access-Control-Expose-Headers"]
