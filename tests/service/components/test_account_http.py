"""Where requests of a component go and what goes with them: the credential to its app's hosts, and nowhere else."""

from collections.abc import Callable
from typing import Any

import pytest

from webapp.service.components.account_http import AccountHttp, RefusalReporter, lane_of
from webapp.service.components.calls import AccountGrant
from webapp.service.components.errors import HttpError
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.responses import Response

SECRET = "canary-s3cret/with space"


@pytest.fixture
def http(tiny: Any, stranger: Any) -> Callable[..., AccountHttp]:
    client = OutboundClient(Guard((tiny.netloc, stranger.netloc)), user_agent="Patchbay/test")
    return lambda **changes: AccountHttp(client, tiny.grant(**changes), lambda: 10.0)


def test_a_relative_address_follows_the_base_url_with_headers_and_credential(http: Callable[..., AccountHttp]) -> None:
    said = http().get("/things", params={"a": 1, "no": None, "yes": True, "many": ["x", "y z"]}).json()
    assert said["path"] == "/api/things?a=1&yes=true&many=x&many=y+z"
    assert (said["headers"]["X-Key"], said["headers"]["X-Version"]) == (SECRET, "7")
    assert said["headers"]["User-Agent"] == "Patchbay/test"


def test_every_verb(http: Callable[..., AccountHttp]) -> None:
    client = http()
    for verb in ("get", "post", "put", "patch", "delete"):
        assert getattr(client, verb)("x").json()["method"] == verb.upper()


def test_json_forms_and_bytes(http: Callable[..., AccountHttp]) -> None:
    assert http().post("/x", json={"a": [1]}).json()["body"] == '{"a":[1]}'
    form = http().post("/x", data={"a": "ü", "b": [1, 2], "c": None}).json()
    assert form["body"] == "a=%C3%BC&b=1&b=2"
    assert form["headers"]["Content-Type"] == "application/x-www-form-urlencoded"
    raw = http().post("/x", data=b"raw", headers={"Content-Type": "text/plain"}).json()
    assert (raw["body"], raw["headers"]["Content-Type"]) == ("raw", "text/plain")


def test_a_signature_is_made_over_what_goes_out_to_the_app_only(
    http: Callable[..., AccountHttp], stranger: Any
) -> None:
    parts = {"access_key_id": "AKID", "secret_access_key": "{key}", "region": "eu-west-1", "service": "s3"}
    client = http(placements=(Placement("sigv4", parts=parts),))
    said = client.post("/x", params={"b": "x y", "a": 1}, json={"b": 2}, auth=("own", "own")).json()
    assert said["path"] == "/api/x?a=1&b=x%20y"
    assert said["headers"]["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "content-type;host;x-amz-content-sha256;x-amz-date" in said["headers"]["Authorization"]
    assert SECRET not in str(said["headers"])
    assert "Authorization" not in client.get(f"http://{stranger.netloc}/x").json()["headers"]


@pytest.mark.parametrize(
    ("placement", "path", "body", "authorization"),
    [
        (Placement("query", "token", "{key}"), "/api/x?a=1&token=canary-s3cret%2Fwith+space", '{"b":2}', None),
        (Placement("body", "token", "{key}"), "/api/x?a=1", '{"b":2,"token":"canary-s3cret/with space"}', None),
        (Placement("bearer", value="{key}"), "/api/x?a=1", '{"b":2}', f"Bearer {SECRET}"),
    ],
)
def test_a_credential_goes_where_the_app_puts_it(
    http: Callable[..., AccountHttp], placement: Placement, path: str, body: str, authorization: str | None
) -> None:
    said = http(placements=(placement,)).post("/x", params={"a": 1}, json={"b": 2}).json()
    assert (said["path"], said["body"]) == (path, body)
    assert said["headers"].get("Authorization") == authorization


def test_another_host_gets_neither_credential_nor_headers_of_the_app(
    http: Callable[..., AccountHttp], stranger: Any
) -> None:
    said = http().get(f"{stranger.base}/x", auth=("u", "p")).json()
    assert "X-Key" not in said["headers"] and "X-Version" not in said["headers"]
    assert said["headers"]["Authorization"] == "Basic dTpw"


def test_a_redirect_to_another_host_is_not_followed_with_the_credential(
    http: Callable[..., AccountHttp], stranger: Any
) -> None:
    with pytest.raises(HttpError, match="redirects elsewhere"):
        http().get("/away", params={"to": f"{stranger.base}/x"})
    assert http().get("/away?to=/api/here").json()["path"] == "/api/here"


def test_what_the_guard_refuses_is_a_sentence(tiny: Any) -> None:
    closed = AccountHttp(OutboundClient(Guard(), user_agent="x"), tiny.grant(), lambda: 5.0)
    with pytest.raises(HttpError, match=r"127\.0\.0\.1 is not on the public internet") as caught:
        closed.get("/x")
    assert caught.value.status is None


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_bad_status_is_raised_with_the_apps_own_words(http: Callable[..., AccountHttp], status: int) -> None:
    with pytest.raises(HttpError) as caught:
        http().get(f"/fails/{status}")
    assert str(caught.value) == f"The app answered with status {status}: No such project."
    assert (caught.value.status, b"No such project" in caught.value.body) == (status, True)
    assert http().get(f"/fails/{status}", check=False).status == status


def test_errors_in_an_array_keep_their_words(http: Callable[..., AccountHttp]) -> None:
    """As Salesforce answers, and at once: developer.salesforce.com, REST API, Status Codes and Error Responses."""
    body = b'[{"message": "Required fields are missing: [Name]", "errorCode": "REQUIRED_FIELD_MISSING"}]'
    client = http()
    client._client.request = lambda *_, **__: Response(400, {}, body, "https://acme.my.salesforce.com/")  # type: ignore[method-assign]
    with pytest.raises(HttpError) as caught:
        client.get("/x")
    assert str(caught.value) == "The app answered with status 400: Required fields are missing: [Name]"


def test_a_relative_address_without_an_account_is_a_sentence(tiny: Any) -> None:
    plain = AccountHttp(OutboundClient(Guard((tiny.netloc,)), user_agent="x"), None, lambda: 5.0)
    with pytest.raises(HttpError, match="is not a whole address"):
        plain.get("/x")
    assert "X-Key" not in plain.get(f"{tiny.base}/x").json()["headers"]


def test_an_account_without_the_field_that_is_needed(http: Callable[..., AccountHttp]) -> None:
    with pytest.raises(HttpError, match="Key is missing"):
        http(values={}).get("/x")


def test_time_that_is_used_up_ends_a_request(tiny: Any) -> None:
    client = AccountHttp(
        OutboundClient(Guard((tiny.netloc,)), user_agent="x"), AccountGrant(base_url=tiny.base), lambda: -3.0
    )
    with pytest.raises(HttpError, match="in time"):
        client.get("/slow")


def test_whoever_counts_is_told_which_answers_refuse_the_credential(tiny: Any, stranger: Any) -> None:
    client = OutboundClient(Guard((tiny.netloc, stranger.netloc)), user_agent="Patchbay/test")
    notes: list[tuple[str, bool]] = []
    http = AccountHttp(client, tiny.grant(), lambda: 10.0, lambda method, refused: notes.append((method, refused)))
    http.get("/fails/401", check=False)
    http.post("/fails/403", check=False)
    http.get(f"http://{stranger.netloc}/fails/401", check=False)
    assert notes == [("GET", True), ("POST", False), ("GET", False)]


def test_a_refused_credential_is_reported_and_whether_anything_may_have_changed_before() -> None:
    sent: list[dict[str, Any]] = []
    watch = RefusalReporter(sent.append)
    watch.note("app", "GET", True)
    watch.note(None, "GET", True)
    watch.note("app", "POST", True)
    watch.note(None, "POST", False)
    watch.note("app", "HEAD", True)
    assert sent == [
        {"refused": "app", "repeatable": True},
        {"refused": "app", "repeatable": True},
        {"refused": "app", "repeatable": False},
    ]


def test_connections_are_shared_within_one_credential_only(tiny: Any) -> None:
    lanes = {lane_of(tiny.grant(values={"key": key})) for key in ("a", "b")}
    assert len(lanes) == 2 and lane_of(tiny.grant(values={"key": "a"})) in lanes
    assert lane_of(AccountGrant()) == ""
    assert "canary" not in lane_of(tiny.grant())
