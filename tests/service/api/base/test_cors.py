"""Pages of other origins: the matrix of origin and token, preflights, and errors that a page can read."""

from typing import Any

import pytest

from webapp.kit.clock import DAY, SECOND
from webapp.service.domain.access import oauth_clients

HERE, THERE, NOWHERE = "https://a.example", "https://b.example", "https://evil.example"
OWN = "http://localhost:8600"
CORS = ("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers")


def accounts(world: Any, token: str | None, origin: str | None, **more: Any) -> Any:
    headers = {"Origin": origin} if origin is not None else {}
    return world.get("/v1/connect/accounts", token, headers=headers, **more)


def preflight(world: Any, origin: str, path: str = "/v1/connect/accounts", **headers: str) -> Any:
    asked = {"Origin": origin, "Access-Control-Request-Method": "GET", **headers}
    return world.call("OPTIONS", path, headers=asked)


def test_the_matrix_of_origins(world: Any) -> None:
    token = world.frontend(allowed_origins=[HERE, THERE])
    for origin, status in (
        (None, 200), (HERE, 200), (THERE, 200), (OWN, 200), (NOWHERE, 403), ("null", 403), ("*", 403), ("", 200),
        ("http://a.example", 403), ("https://a.example:8443", 403), ("https://sub.a.example", 403),
        ("https://a.example.evil.example", 403), ("HTTPS://A.EXAMPLE", 403), ("https://a.example/", 403),
    ):  # fmt: skip
        answer = accounts(world, token, origin)
        assert answer.status_code == status, origin
        readable = bool(origin) and status == 200
        assert answer.headers.get("Access-Control-Allow-Origin") == (origin if readable else None), origin
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_token_without_origins_serves_no_page_but_our_own(world: Any) -> None:
    token = world.frontend()
    assert accounts(world, token, HERE).status_code == 403
    assert accounts(world, token, OWN).status_code == 200


def test_a_page_with_the_token_of_a_server_or_of_another_page_is_refused_and_reads_why(world: Any) -> None:
    world.frontend(allowed_origins=[HERE])
    calls = [("P/accounts", world.server()), ("/v1/connect/accounts", world.frontend(allowed_origins=[THERE]))]
    for path, token in calls:
        answer = world.get(path, token, headers={"Origin": HERE})
        assert answer.status_code == 403 and answer.json["error"].startswith(
            f"This token does not serve pages of {HERE}"
        )
        assert answer.headers["Access-Control-Allow-Origin"] == HERE
        stranger = world.get(path, token, headers={"Origin": NOWHERE})
        assert stranger.status_code == 403 and not any(name in stranger.headers for name in CORS)


def test_exposed_headers(world: Any) -> None:
    answer = accounts(world, world.frontend(allowed_origins=[HERE]), HERE)
    exposed = {name.strip().lower() for name in answer.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"} <= exposed


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/connect/accounts/apn_none", 404),
        ("GET", "/v1/connect/accounts?limit=0", 400),
        ("GET", "/v1/connect/accounts?include_credentials=true", 403),
        ("POST", "/v1/connect/accounts", 415),
        ("PUT", "/v1/connect/accounts", 405),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/connect/proj_other/accounts", 404),
    ],
)
def test_a_page_can_read_its_errors(world: Any, method: str, path: str, status: int) -> None:
    token = world.frontend(allowed_origins=[HERE])
    answer = world.call(method, path, token, headers={"Origin": HERE})
    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == HERE


def test_a_page_can_read_the_401_of_its_expired_token_for_a_week(world: Any) -> None:
    token = world.frontend(allowed_origins=[HERE], expires_in=1)
    world.clock.advance(SECOND)
    for _ in range(2):
        assert preflight(world, HERE).status_code == 204
        answer = accounts(world, token, HERE)
        assert answer.status_code == 401 and answer.headers["Access-Control-Allow-Origin"] == HERE
        assert accounts(world, token, NOWHERE).headers.get("Access-Control-Allow-Origin") is None
        world.clock.advance(7 * DAY - 1)
    world.clock.advance(1)
    assert preflight(world, HERE).status_code == 403


def test_a_page_that_some_token_allows_reads_that_its_own_is_unknown_or_missing(world: Any) -> None:
    world.frontend(allowed_origins=[HERE])
    for token in (None, "garbage", "ctok_" + "0" * 32):
        for origin, readable in ((HERE, HERE), (OWN, OWN), (THERE, None), ("null", None)):
            answer = accounts(world, token, origin)
            assert answer.status_code == 401 and answer.headers.get("Access-Control-Allow-Origin") == readable, origin
            assert "Origin" in answer.headers["Vary"]


def test_no_page_reads_what_succeeds_without_its_token(world: Any) -> None:
    world.frontend(allowed_origins=[HERE])
    client, secret = oauth_clients.create(world.service, name="Server", project_id=None)
    body = {"grant_type": "client_credentials", "client_id": client.id, "client_secret": secret}
    answer = world.post("/v1/oauth/token", json=body, headers={"Origin": HERE})
    assert answer.status_code == 200 and not any(name in answer.headers for name in CORS)


class TestPreflight:
    def test_any_origin_of_a_live_token_is_answered_everywhere(self, world: Any) -> None:
        world.frontend(allowed_origins=[HERE])
        paths = ("/v1/connect/accounts", "/v1/connect//accounts", f"/v1/connect/{world.scene.project_id}/tokens",
                 "/v1/connect/proj_none/accounts", "/v1/connect/rate_limits", "/v1/oauth/token")  # fmt: skip
        for path in paths:
            answer = preflight(world, HERE, path)
            assert answer.status_code == 204 and answer.data == b""
            assert answer.headers["Access-Control-Allow-Origin"] == HERE
            methods = {name.strip() for name in answer.headers["Access-Control-Allow-Methods"].split(",")}
            assert methods == {"GET", "POST", "PUT", "PATCH", "DELETE"}
            assert "Origin" in answer.headers["Vary"]
            assert "Access-Control-Allow-Credentials" not in answer.headers

    def test_our_own_origin_is_answered(self, world: Any) -> None:
        assert preflight(world, OWN).status_code == 204

    @pytest.mark.parametrize("origin", [NOWHERE, "null", "*", "", "é", "https://a.example\x01"])
    def test_others_are_not(self, world: Any, origin: str) -> None:
        world.frontend(allowed_origins=[HERE])
        answer = preflight(world, origin)
        assert answer.status_code == 403 and not any(name in answer.headers for name in CORS)
        assert "Origin" in answer.headers["Vary"]

    def test_headers_by_name_and_by_prefix(self, world: Any) -> None:
        world.frontend(allowed_origins=[HERE])
        asked = "x-pd-proxy-accept, X-Fern-New-Thing, cookie, x-evil, x-pd-proxy-a:b"
        answer = preflight(world, HERE, **{"Access-Control-Request-Headers": asked})
        allowed = {name.strip() for name in answer.headers["Access-Control-Allow-Headers"].split(",")}
        assert {"authorization", "content-type", "x-pd-environment", "x-pd-rate-limit", "user-agent"} <= allowed
        assert "x-pd-sdk-version" in allowed  # which earlier browser clients send with every call
        assert {"x-fern-language", "x-fern-sdk-name", "x-pd-proxy-accept", "x-fern-new-thing"} <= allowed
        assert not allowed & {"cookie", "x-evil", "x-pd-proxy-a:b", "*"}

    def test_other_options_requests_tell_the_methods(self, world: Any) -> None:
        answer = world.call("OPTIONS", "/v1/connect/accounts")
        assert answer.status_code == 204
        assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST"
        assert world.call("OPTIONS", "/v1/nothing").status_code == 404


class TestValidate:
    """The token is in the path, and its own origins count."""

    def test_its_page_reads_it_and_others_do_not(self, world: Any) -> None:
        token = world.frontend(allowed_origins=[HERE], expires_in=10)
        url = f"/v1/connect/tokens/{token}/validate"
        answer = world.get(url, headers={"Origin": HERE})
        assert answer.json["success"] is True and answer.headers["Access-Control-Allow-Origin"] == HERE
        refused = world.get(url, headers={"Origin": NOWHERE})
        assert refused.status_code == 403 and "Access-Control-Allow-Origin" not in refused.headers
        world.clock.advance(10 * SECOND)
        late = world.get(url, headers={"Origin": HERE})
        assert late.json["success"] is False and late.headers["Access-Control-Allow-Origin"] == HERE

    @pytest.mark.parametrize(("method", "status"), [("GET", 200), ("POST", 405)])
    def test_a_page_that_some_token_allows_reads_that_this_one_is_unknown(
        self, world: Any, method: str, status: int
    ) -> None:
        world.frontend(allowed_origins=[HERE])
        url = f"/v1/connect/tokens/ctok_{'0' * 32}/validate"
        answer = world.call(method, url, headers={"Origin": HERE})
        assert answer.status_code == status and answer.json["error"]
        assert answer.headers["Access-Control-Allow-Origin"] == HERE
        assert "Access-Control-Allow-Origin" not in world.call(method, url, headers={"Origin": NOWHERE}).headers
