"""Errors are JSON, whatever they are."""

from flask.testing import FlaskClient


def test_a_wrong_method_is_answered_as_json(http: FlaskClient) -> None:
    assert http.get("/mcp/oauth/register").status_code == 405
    answer = http.post("/mcp/oauth/token")
    assert answer.get_json()["error"] == "invalid_request" and answer.headers["Cache-Control"] == "no-store"


def test_pages_of_any_origin_sign_their_people_in(http: FlaskClient) -> None:
    origin = {"Origin": "https://agent.example"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for path in ("register", "token", "revoke"):
        allowed = http.options(f"/mcp/oauth/{path}", headers={**origin, **asked})
        refused = http.post(f"/mcp/oauth/{path}", headers=origin)
        for answer, status in ((allowed, 204), (refused, 400)):
            assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (status, origin["Origin"])
            assert "Access-Control-Allow-Credentials" not in answer.headers
    nowhere = http.get("/.well-known/oauth-authorization-server", headers={"Origin": "null"})
    assert nowhere.status_code == 200 and "Access-Control-Allow-Origin" not in nowhere.headers
