"""The proxy: what goes upstream, what comes back, and where a credential never goes."""

import base64
import gzip
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask, Response, jsonify, request

from tests.fakes.provider_api import Api, serving
from webapp import content_security_policies
from webapp.kit.clock import HOUR, FakeClock
from webapp.service.catalog.build import ensure
from webapp.service.catalog.sources import Places
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import proxy
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Address, Guard
from webapp.service.outbound.transport import StreamBroken
from webapp.service.outbound.urls import HostRules
from webapp.settings import Settings

KEY = "canary-proxy-key"
MEGABYTE = 1024 * 1024
APP = """
slug = "{slug}"
name = "{slug}"
description = "An app of the tests."
categories = ["testing"]
auth_type = "keys"
logo = {{ letter = "E", color = "#336699" }}
docs_url = "{base}/docs"
sources = ["{base}/docs"]
base_url = "{base}/v1"
headers = {{ X-Version = "7" }}
allowed_hosts = ["{netloc}"]
test = {{ url = "/me", source = "{base}/docs" }}

[[fields]]
name = "api_key"
label = "API key"
secret = true

[[credentials]]
place = "{place}"
{name}value = "{{api_key}}"
source = "{base}/docs"
"""
OAUTH = """
[[credentials]]
place = "bearer"
source = "{base}/docs"
[oauth]
authorize_url = "{base}/authorize"
token_url = "{base}/token"
sources = ["{base}/docs"]
client = {{ console_url = "{base}/console", steps = ["Make one."], source = "{base}/docs" }}
"""
NAME = "app.test"
PLACES = {"bear": "bearer", "head": "header", "inquery": "query", "inbody": "body"}


def url_64(target: str) -> str:
    return base64.urlsafe_b64encode(target.encode()).decode().rstrip("=")


def upstream_app() -> Flask:
    app = Flask("upstream")

    @app.route("/v1/echo", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    def echo() -> Response:
        sent = {"method": request.method, "query": request.query_string.decode(), "body": request.get_data().decode()}
        answer = jsonify(sent)
        answer.status_code = int(request.args.get("status", 200))
        for name, value in (
            ("X-Custom", "kept"), ("ETag", '"v1"'), ("Set-Cookie", "session=stolen"), ("Clear-Site-Data", '"*"'),
            ("Content-Security-Policy", "default-src *"), ("Access-Control-Allow-Origin", "*"), ("X-Hop", "dropped"),
            ("Connection", "X-Hop"), ("WWW-Authenticate", "Basic"), ("X-RateLimit-Remaining", "999"),
            ("Strict-Transport-Security", "max-age=1"), ("Service-Worker-Allowed", "/"), ("Cache-Control", "public"),
        ):  # fmt: skip
            answer.headers[name] = value
        return answer

    @app.get("/v1/page")
    def page() -> Response:
        return Response("<script>document.title = 'ran'</script>", mimetype="text/html")

    @app.post("/v1/mirror")
    def mirror() -> Response:
        told = {"headers": dict(request.headers), "url": request.url, "body": request.get_data().decode()}
        answer = jsonify({**told, "app": "somebody's data"})
        answer.headers["Content-Type"] = request.args["type"]
        return answer

    @app.get("/v1/zipped")
    def zipped() -> Response:
        return Response(gzip.compress(b"a" * 100_000), headers={"Content-Encoding": "gzip"})

    @app.get("/v1/large")
    def large() -> Response:
        def blocks() -> Iterator[bytes]:
            for _ in range(64):
                yield b"x" * MEGABYTE

        return Response(blocks(), mimetype="application/octet-stream")

    @app.get("/v1/to")
    def to() -> Response:
        return Response(status=int(request.args.get("code", 302)), headers={"Location": request.args["url"]})

    @app.get("/v1/slow")
    def slow() -> Response:
        time.sleep(1.0)
        return Response("late")

    @app.get("/v1/drips")
    def drips() -> Response:
        def blocks() -> Iterator[bytes]:
            for _ in range(50):
                yield b"drip"
                time.sleep(0.1)

        return Response(blocks(), mimetype="text/plain")

    @app.post("/token")
    def token() -> Response:
        return jsonify(access_token="canary-new", token_type="Bearer", expires_in=3600)

    return app


@pytest.fixture(scope="module")
def upstream() -> Iterator[Api]:
    with serving(upstream_app()) as api:
        yield api


@pytest.fixture(scope="module")
def stranger() -> Iterator[Api]:
    """A host that no app declares, though the operator opened it."""
    with serving(upstream_app()) as api:
        yield api


@pytest.fixture(scope="module")
def world(
    upstream: Api, stranger: Api, tmp_path_factory: pytest.TempPathFactory, make_world: Callable[..., Any]
) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("proxy")
    netloc = upstream.origin.removeprefix("http://")
    for slug, place in PLACES.items():
        name = "" if place == "bearer" else 'name = "x-the-key"\n'
        text = APP.format(slug=slug, place=place, base=upstream.origin, netloc=netloc, name=name)
        (folder / "apps" / slug).mkdir(parents=True)
        (folder / "apps" / slug / "app.toml").write_text(text)
    (folder / "apps" / "signed").mkdir()
    shelf = (
        APP.partition("\n[[fields]]")[0]
        .replace('"keys"', '"oauth"')
        .format(slug="signed", base=upstream.origin, netloc=netloc)
    )
    (folder / "apps" / "signed" / "app.toml").write_text(shelf + OAUTH.format(base=upstream.origin))
    (folder / "apps" / "categories.toml").write_text(
        '[[categories]]\nslug = "testing"\nname = "Testing"\ndescription = "Apps."\n'
    )
    assert ensure(folder / "catalog.db", Places([folder / "apps"], components=folder / "none")).problems == ()
    hosts = ",".join(one.origin.removeprefix("http://") for one in (upstream, stranger))
    env = {"PATCHBAY_ALLOW_HOSTS": hosts, "PATCHBAY_SECRET_KEY": "kT7vQ2mX9cL4pR8wZ1sN6dF3hJ5gB0yAeU"}
    clock = FakeClock()
    service = open_service(Settings.from_env(env, data=folder), clock)
    yield make_world(service, clock)
    close_service(service)


@pytest.fixture(autouse=True)
def afresh(world: Any, upstream: Api, stranger: Api) -> None:
    """Nothing has been asked, and no window is open."""
    upstream.asked.clear()
    stranger.asked.clear()
    world.clock.advance(HOUR)


@pytest.fixture(scope="module")
def planted(world: Any) -> dict[str, str]:
    """An account of each app, by slug."""
    return {slug: world.plant("alice", slug, values={"api_key": KEY}).id for slug in PLACES}


Send = Callable[..., Any]


@pytest.fixture
def send(world: Any, planted: dict[str, str]) -> Send:
    token = world.server("connect:proxy")

    def call(method: str, target: str, *, app: str = "bear", coded: str | None = None, **more: Any) -> Any:
        query = {"external_user_id": "alice", "account_id": planted[app], **more.pop("query", {})}
        path = f"P/proxy/{url_64(target) if coded is None else coded}"
        return world.call(method, path, more.pop("token", token), query_string=query, **more)

    return call


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method_goes_up_with_its_body_and_the_credential(send: Send, upstream: Api, method: str) -> None:
    answer = send(method, "/echo?a=1", data='{"n": 1}', content_type="application/json; charset=utf-8")
    assert answer.status_code == 200
    assert answer.json == {"method": method, "query": "a=1", "body": '{"n": 1}'}
    assert upstream.last.headers["Authorization"] == f"Bearer {KEY}"
    assert upstream.last.headers["Content-Type"] == "application/json; charset=utf-8"
    assert upstream.last.headers["X-Version"] == "7"


def test_every_form_of_base64_and_of_a_target(send: Send, upstream: Api) -> None:
    for target in ("/echo?q=???>>>~~~", "echo?q=ÿ", f"{upstream.origin}/v1/echo?q=>>?", "/../v1/echo?q=ab"):
        raw = target.encode()
        padded = base64.urlsafe_b64encode(raw).decode()
        standard = base64.b64encode(raw).decode()
        for coded in (padded, padded.rstrip("="), standard, standard.rstrip("="), standard.replace("/", "%2F")):
            assert send("GET", "", coded=coded).status_code in (200, 404), coded
            assert upstream.last.query["q"] == [target.partition("q=")[2]]


@pytest.mark.parametrize("coded", ["", "a", "%%%", "_w", "e30~", "L2VjaG8*"])
def test_what_is_no_base64_is_refused(send: Send, upstream: Api, coded: str) -> None:
    answer = send("GET", "", coded=coded)
    assert answer.status_code in (400, 404) and upstream.asked == []


def test_marked_headers_go_up_and_no_others(send: Send, upstream: Api) -> None:
    marked = {
        "x-pd-proxy-accept": "text/csv", "X-Pd-Proxy-X-Version": "8", "x-pd-proxy-user-agent": "mine",
        "x-pd-proxy-content-type": "application/x-ndjson", "x-pd-proxy-idempotency-key": "k-1",
    }  # fmt: skip
    plain = {"Cookie": "a=b", "X-Secret": "x", "Referer": "https://shop.example/", "X-Forwarded-For": "10.0.0.1"}
    send("POST", "/echo", headers={**marked, **plain}, data="{}", content_type="application/json")
    told = upstream.last.headers
    assert (told["Accept"], told["X-Version"], told["User-Agent"]) == ("text/csv", "8", "mine")
    assert (told["Content-Type"], told["Idempotency-Key"]) == ("application/x-ndjson", "k-1")
    assert not {"Cookie", "X-Secret", "Referer", "X-Forwarded-For", "X-Pd-Environment"} & set(told)


def test_headers_that_frame_route_or_authenticate_are_not_the_callers(send: Send, upstream: Api) -> None:
    names = (
        "host", "connection", "transfer-encoding", "content-length", "te", "upgrade", "expect", "proxy-authorization",
    )  # fmt: skip
    tried = {f"x-pd-proxy-{name}": "evil.example" for name in (*names, "Authorization", "AUTHORIZATION")}
    assert send("GET", "/echo", headers=tried).status_code == 200
    told = upstream.last.headers
    assert told["Host"] == upstream.origin.removeprefix("http://")
    assert told["Authorization"] == f"Bearer {KEY}"
    assert "evil.example" not in str(told)
    send("GET", "/echo", app="head", headers={"x-pd-proxy-X-THE-KEY": "mine", "x-pd-proxy-authorization": "Bearer x"})
    assert upstream.last.headers["X-The-Key"] == KEY


def test_a_credential_in_the_query_is_not_the_callers(send: Send, upstream: Api) -> None:
    send("GET", "/echo?x-the-key=mine&a=1&x%2Dthe-key=again", app="inquery", query={"b": "2", "x-the-key": "me"})
    assert upstream.last.query == {"a": ["1"], "b": ["2"], "x-the-key": [KEY]}


def test_further_parameters_go_up_behind_the_targets_own(send: Send, upstream: Api) -> None:
    answer = send("GET", "/echo?a=1&flag", query={"b": ["2", "3 4"]})
    assert answer.json["query"] == "a=1&flag&b=2&b=3+4"


def test_a_credential_in_the_body(send: Send, upstream: Api) -> None:
    send("POST", "/echo", app="inbody", json={"a": 1, "x-the-key": "mine"})
    assert upstream.last.json == {"a": 1, "x-the-key": KEY}
    send("POST", "/echo", app="inbody", data={"a": "1", "x-the-key": "mine"})
    assert upstream.last.body == f"a=1&x-the-key={KEY}".encode()
    assert send("POST", "/echo", app="inbody", data="[", content_type="application/json").status_code == 400
    assert send("POST", "/echo", app="inbody", data="a", content_type="text/plain").status_code == 400


@pytest.mark.parametrize("status", [200, 201, 204, 304, 400, 401, 404, 429, 500, 503])
def test_status_and_headers_come_back_but_for_what_speaks_for_our_origin(send: Send, status: int) -> None:
    answer = send("GET", f"/echo?status={status}", headers={"Origin": "http://localhost:8600"})
    assert answer.status_code == status
    assert (answer.headers["X-Custom"], answer.headers["ETag"]) == ("kept", '"v1"')
    gone = {"Set-Cookie", "Clear-Site-Data", "X-Hop", "WWW-Authenticate", "Strict-Transport-Security",
            "Service-Worker-Allowed", "Connection"}  # fmt: skip
    assert not gone & set(answer.headers.keys())
    assert answer.headers.get("Access-Control-Allow-Origin") != "*"
    assert answer.headers.getlist("Cache-Control") == ["no-store"]
    assert answer.headers["X-RateLimit-Limit"] == "1000" and answer.headers["X-RateLimit-Remaining"] == "999"


def test_a_page_from_upstream_never_runs_in_our_origin(send: Send) -> None:
    answer = send("GET", "/page")
    assert answer.mimetype == "text/html"
    assert answer.headers["Content-Security-Policy"] == content_security_policies.OF_OTHERS
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_head_is_a_head_upstream_too(send: Send, upstream: Api) -> None:
    answer = send("HEAD", "/echo")
    assert (answer.status_code, answer.data, upstream.last.method) == (200, b"", "HEAD")
    assert int(answer.headers["Content-Length"]) > 0


def test_a_large_answer_is_never_held_in_memory(send: Send) -> None:
    tracemalloc.start()
    answer = send("GET", "/large", buffered=False)
    size = sum(len(block) for block in answer.response)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    answer.close()
    assert size == 64 * MEGABYTE
    assert peak < 24 * MEGABYTE  # the upstream of the tests lives in this process too


def test_an_encoded_answer_comes_as_it_is(send: Send) -> None:
    answer = send("GET", "/zipped", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip" and gzip.decompress(answer.data) == b"a" * 100_000
    assert int(answer.headers["Content-Length"]) == len(answer.data)


@pytest.mark.parametrize("app", PLACES)
def test_an_answer_that_repeats_the_credential_has_stars_in_its_place(send: Send, upstream: Api, app: str) -> None:
    """The app says all that it was sent; whatever else stands there comes as it is, in as many bytes."""
    more = {"data": '{"a": 1}', "content_type": "application/json"}
    answer = send("POST", "/mirror?type=application/json", app=app, **more)
    assert KEY not in answer.text and "*" * len(KEY) in answer.text
    assert int(answer.headers["Content-Length"]) == len(answer.data) and upstream.last.headers["X-Version"] == "7"
    assert answer.json["app"] == "somebody's data"
    assert upstream.last.headers["Accept-Encoding"] == "identity"
    picture = send("POST", "/mirror?type=image/png", app=app, **more)
    assert KEY in picture.text, "only a text is looked at"


def test_a_redirect_within_the_app_is_followed(send: Send, upstream: Api) -> None:
    assert send("GET", "/to?url=/v1/echo").json["method"] == "GET"
    assert upstream.last.headers["Authorization"] == f"Bearer {KEY}"
    posted = send("POST", f"{upstream.origin}/v1/echo?status=307")
    assert posted.status_code == 307


def test_a_redirect_elsewhere_is_reported_and_not_followed(send: Send, stranger: Api) -> None:
    for code in (301, 302, 303, 307, 308):
        answer = send("GET", f"/to?code={code}&url={stranger.origin}/v1/echo")
        assert (answer.status_code, answer.headers["Location"]) == (code, f"{stranger.origin}/v1/echo")
    assert stranger.asked == []


@pytest.mark.parametrize(
    "address",
    ["//{0}/v1/echo", "///{0}/v1/echo", "/\\{0}/v1/echo", "\\\\{0}/v1/echo", "http:\\\\{0}/v1/echo",
     "http:/{0}/v1/echo", "http:{0}/v1/echo", "http://{1}@{0}/v1/echo", "http://{1}\\@{0}/v1/echo",
     "http://{1}%2F@{0}/", "http://{1}#@{0}/", "http://{1}.{0}/", "HTTP://{0}/v1/echo", "\t//{0}/v1/echo",
     " http://{0}/", "//localhost:{2}/v1/echo",
     "//0x7f.1:{2}/v1/echo", "//[::ffff:127.0.0.1]:{2}/v1/echo", "//①27.0.0.1:{2}/v1/echo", "ftp://{0}/"],
)  # fmt: skip
def test_a_redirect_by_any_trick_reaches_nobody_else(send: Send, upstream: Api, stranger: Api, address: str) -> None:
    host, port = stranger.origin.removeprefix("http://"), stranger.origin.rpartition(":")[2]
    url = address.format(host, upstream.origin.removeprefix("http://"), port)
    answer = send("GET", "/to", query={"url": quote(url, safe="")})
    assert answer.status_code in (302, 404, 502)
    assert stranger.asked == []


def test_a_redirect_that_ends_elsewhere_is_not_followed_at_any_hop(send: Send, upstream: Api, stranger: Api) -> None:
    last = f"{stranger.origin}/v1/echo"
    for _ in range(2):
        last = f"/v1/to?url={quote(last, safe='')}"
    answer = send("GET", f"/to?url={quote(last, safe='')}")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{stranger.origin}/v1/echo")
    assert len(upstream.asked) == 3 and stranger.asked == []


@pytest.mark.parametrize(
    ("turns", "statuses"),
    [
        (["127.0.0.1", "169.254.169.254"], [200, 403]),
        (["169.254.169.254", "93.184.215.14 169.254.169.254"], [403, 403]),
    ],
)
def test_a_name_is_looked_up_once_for_each_request_and_leads_nowhere_else(
    send: Send, upstream: Api, monkeypatch: pytest.MonkeyPatch, turns: list[str], statuses: list[int]
) -> None:
    """DNS rebinding: an app that is declared by a name, and what the DNS answers from one request to the next."""
    asked: list[str] = []

    def resolver(host: str, _: float) -> list[Address]:
        asked.append(host)
        return [ip_address(text) for text in turns[len(asked) - 1].split()]

    host = f"{NAME}:{upstream.origin.rpartition(':')[2]}"
    client, rules = OutboundClient(Guard([host], resolver=resolver), user_agent="t"), HostRules.of(host)
    monkeypatch.setattr(Service, "client_for", lambda *_: client)
    monkeypatch.setattr(HostRules, "of", lambda *_: rules)
    assert [send("GET", f"http://{host}/v1/echo").status_code for _ in turns] == statuses
    assert asked == [NAME] * len(turns)
    assert [one.headers["Host"] for one in upstream.asked] == [host] * statuses.count(200)


def targets(host: str) -> list[str]:
    """Ways to write an address that a careless reader takes for one of the app's, or for a relative one."""
    declared = "127.0.0.1"
    return [
        f"http://{host}/v1/echo", f"HTTP://{host}/v1/echo", f"https://{host}/", f"http://{host}#@{declared}",
        f"http://{declared}@{host}/", f"http://{declared}:1@{host}/", f"http://{host}\\@{declared}/",
        f"http://{declared}\\@{host}/", f"http://{declared}.{host}/", f"http://{host}?{declared}", f"ftp://{host}/",
        f"http:\\\\{host}/", f"\thttp://{host}/", f" http://{host}/", f"http://{host}%2F@{declared}/",
        f"http://{declared}%40{host}/", f"http://{declared}:{host}", f"http://[::ffff:127.0.0.1]:{host.split(':')[1]}/",
        f"http://localhost:{host.split(':')[1]}/", f"http://0x7f000001:{host.split(':')[1]}/", f"javascript://{host}/",
        f"http://{host}\r\nHost: {declared}/", f"http://①27.0.0.1:{host.split(':')[1]}/",
    ]  # fmt: skip


def test_the_credential_goes_to_no_host_that_the_app_does_not_declare(send: Send, upstream: Api, stranger: Api) -> None:
    host = stranger.origin.removeprefix("http://")
    for target in targets(host):
        for app in PLACES:
            answer = send("GET", target, app=app)
            assert answer.status_code in (400, 403), (target, answer.status_code)
    assert stranger.asked == [] and upstream.asked == []


@pytest.mark.parametrize(
    "target",
    ["//{0}/v1/echo", "///{0}/", "/\\{0}", "\\\\{0}\\", "http:{0}/echo", "https:/{0}/", "@{0}/", ".{0}/", ":80@{0}",
     "?@{0}/", "#@{0}/", "/..//{0}/", "/%2F%2F{0}/", "%2F%2F{0}/", "/%5C{0}/", "／／{0}/", "/．．/／{0}", "/;@{0}",
     "&@{0}", "%00@{0}", "/..%2f..%2f{0}", "/.%2e//{0}", "javascript:{0}", "data:{0}"],
)  # fmt: skip
def test_what_looks_like_another_host_stays_a_path_below_the_app(
    send: Send, stranger: Api, upstream: Api, target: str
) -> None:
    answer = send("GET", target.format(stranger.origin.removeprefix("http://")))
    assert answer.status_code in (400, 404) and stranger.asked == []
    assert all(one.path.startswith("/v1") for one in upstream.asked)


def test_an_expired_token_is_refreshed_first(world: Any, upstream: Api) -> None:
    client = oauth_apps.add(world.service, app="signed", client_id="op", client_secret="s")
    values = {"oauth_access_token": "canary-old", "oauth_refresh_token": "canary-refresh"}
    planted = world.plant("alice", "signed", values=values, expires_at=world.clock() - 1, oauth_app_id=client.id)
    query = {"external_user_id": "alice", "account_id": planted.id}
    answer = world.get(f"P/proxy/{url_64('/echo')}", world.server(), query_string=query)
    assert answer.status_code == 200
    assert [one.path for one in upstream.asked] == ["/token", "/v1/echo"]
    assert upstream.last.headers["Authorization"] == "Bearer canary-new"


def test_a_dead_account_says_so(world: Any, upstream: Api) -> None:
    dead = world.plant("alice", "bear", values={"api_key": KEY}, dead=True, error="Reconnect it.")
    query = {"external_user_id": "alice", "account_id": dead.id}
    answer = world.get(f"P/proxy/{url_64('/echo')}", world.server(), query_string=query)
    assert (answer.status_code, answer.json) == (400, {"error": "Reconnect it."}) and upstream.asked == []


def test_a_connect_token_acts_for_its_own_user(world: Any, planted: dict[str, str]) -> None:
    path, account = f"/v1/connect/proxy/{url_64('/echo')}", planted["bear"]
    own, other = world.frontend("alice"), world.frontend("mallory")
    for query in ({"account_id": account}, {"account_id": account, "external_user_id": "alice"}):
        assert world.get(path, own, query_string=query).status_code == 200
    assert world.get(path, own, query_string={"account_id": account, "external_user_id": "bob"}).status_code == 403
    theirs = world.get(path, other, query_string={"account_id": account})
    absent = world.get(path, other, query_string={"account_id": "apn_none"})
    assert theirs.status_code == 404 and theirs.data == absent.data
    narrow = world.frontend("alice", scope=token_scopes.ACTIONS)
    assert world.get(path, narrow, query_string={"account_id": account}).status_code == 403


def test_what_is_missing_is_named(world: Any, planted: dict[str, str]) -> None:
    path, token = f"P/proxy/{url_64('/echo')}", world.server()
    nobody = world.get(path, token, query_string={"account_id": planted["bear"]})
    assert nobody.json["details"][0]["field"] == "external_user_id" and nobody.status_code == 400
    nothing = world.get(path, token, query_string={"external_user_id": "alice"})
    assert nothing.json["details"][0]["field"] == "account_id" and nothing.status_code == 400
    stranger = world.get(path, token, query_string={"external_user_id": "eve", "account_id": planted["bear"]})
    assert stranger.status_code == 404


def test_an_answer_that_drips_is_passed_on_and_ends_with_the_deadline(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "DEADLINE_S", 0.5)
    started, answer = time.monotonic(), send("GET", "/drips", buffered=False)
    assert answer.status_code == 200
    blocks = iter(answer.response)
    assert next(blocks) == b"drip" and time.monotonic() - started < 0.4, "it is passed on while it arrives"
    with pytest.raises(StreamBroken, match="did not finish"):
        list(blocks)
    answer.close()
    assert time.monotonic() - started < 2


def test_the_deadline_is_half_a_minute() -> None:
    assert proxy.DEADLINE_S == 30


def test_an_upstream_that_takes_too_long_is_504(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "DEADLINE_S", 0.3)
    answer = send("GET", "/slow")
    assert answer.status_code == 504 and "did not finish" in answer.json["error"]


@pytest.mark.parametrize("said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 2"])
def test_an_upstream_that_fails_is_502_with_a_sentence(
    world: Any, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        answered = threading.Thread(target=_say, args=(listener, said))
        answered.start()
        wider = world.service.outbound.allowing(host)
        monkeypatch.setattr(type(world.service), "client_for", lambda *_: wider)
        rules = HostRules.of(host)
        monkeypatch.setattr(HostRules, "of", lambda *_: rules)
        account = world.plant("alice", "bear", values={"api_key": KEY})
        query = {"external_user_id": "alice", "account_id": account.id}
        answer = world.get(f"P/proxy/{url_64(f'http://{host}/')}", world.server(), query_string=query)
        answered.join()
    assert answer.status_code == 502 and answer.json["error"].endswith(".")


def _say(listener: socket.socket, said: bytes) -> None:
    sock = listener.accept()[0]
    with sock:
        sock.recv(65536)
        sock.sendall(said)
