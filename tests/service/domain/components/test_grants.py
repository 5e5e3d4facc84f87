"""Calls with accounts: the user's alone, of the app that the prop names; looked after when they are refused in use.

The provider is a fake of the tests, and stands for no real one.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from webapp.errors import Invalid, NotFound
from webapp.service.components.calls import Call, ErrorInfo, ErrorKind, Reply
from webapp.service.domain.accounts import accounts, credentials, lifecycle
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.components.grants import AccountUnusable
from webapp.service.domain.projects.projects import Scene

Plant = Callable[..., Account]
PROP = {"name": "account", "type": "app", "app": "tinykeys"}
COMPONENT = """
from webapp.service.components.authoring import Action, app

class Reads(Action):
    name = "Read"
    version = "0.0.1"
    account = app("acme")

    def run(self, ctx):
        for path in ctx.extra["posts"]:
            ctx.http.post(path, json={})
        ctx.log("asked")
        return ctx.http.get("/things", check=ctx.extra["check"]).json()
"""


def test_an_account_is_its_users_and_of_the_props_app(service: Service, scene: Scene, plant: Plant) -> None:
    account, other = plant("alice"), plant("alice", app="tinyoauth")
    assert grants.find_accounts(service, scene, "alice", [PROP], {"account": account.id}) == {"account": account}
    for user in ("bob", "nobody"):
        with pytest.raises(NotFound):
            grants.find_accounts(service, scene, user, [PROP], {"account": account.id})
    with pytest.raises(Invalid, match="It must be an account of"):
        grants.find_accounts(service, scene, "alice", [PROP], {"account": other.id})


def test_the_refresh_token_stays_here(service: Service, plant: Plant) -> None:
    values = {credentials.ACCESS_TOKEN: "a", credentials.REFRESH_TOKEN: "r", credentials.UID: "u"}
    account = plant(app="tinyoauth", values=values)
    grant = grants.grant_accounts(service, {"account": account}, None).accounts["account"]
    assert grant.values == {credentials.ACCESS_TOKEN: "a", credentials.UID: "u"}
    assert grant.secrets == (credentials.ACCESS_TOKEN,)


def test_what_a_sign_in_keeps_is_secret_unless_the_app_shows_it(service: Service) -> None:
    highlevel, docusign = service.catalog.app("gohighlevel"), service.catalog.app("docusign")
    assert highlevel is not None
    assert docusign is not None
    token = {credentials.ACCESS_TOKEN: "a"}
    assert grants.account_grant(highlevel, {**token, "location_id": "L1"}).secrets == (credentials.ACCESS_TOKEN,)
    values = {"environment": "account.docusign.com", "base_uri": "https://eu.docusign.net", "account_id": "7"}
    assert grants.account_grant(docusign, {**token, **values}).secrets == (
        credentials.ACCESS_TOKEN,
        "base_uri",
        "account_id",
    )


def test_a_dead_account_is_refused_with_a_sentence(service: Service, plant: Plant) -> None:
    dead = lifecycle.mark_dead(service, plant(name="Work"), "The key was revoked.")
    with pytest.raises(AccountUnusable, match="account Work no longer works; reconnect it"):
        grants.fresh(service, dead)


class Things:
    """The part of the provider that the tests' component calls, which wants the token ``good``."""

    def __init__(self, bench: Any, good: str) -> None:
        self.good, self.asked, self.posted = good, 0, 0
        bench.acme.plays.update({"/things": self.read, "/post": self.post})

    def read(self, request: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        fits = request.headers["Authorization"] == f"Bearer {self.good}"
        self._answer(request, *((200, {"things": 2}) if fits else (401, {"message": "The token is revoked."})))

    def post(self, request: BaseHTTPRequestHandler) -> None:
        self.posted += 1
        self._answer(request, 200, {})

    @staticmethod
    def _answer(request: BaseHTTPRequestHandler, status: int, fields: dict[str, Any]) -> None:
        body = json.dumps(fields).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def component(tmp_path: Path) -> Path:
    path = tmp_path / "0.0.1.py"
    path.write_text(COMPONENT)
    return path


def use(bench: Any, component: Path, account: Account, *, posts: tuple[str, ...] = (), check: bool = True) -> Reply:
    call = Call(str(component), "acme-read", "0.0.1", props={"posts": list(posts), "check": check})
    return grants.call(bench.service, call, {"account": account}, None)


def state(bench: Any, account: Account) -> Account:
    return accounts.get(bench.service.store, account.scene, account.id)


def test_a_token_that_ended_early_is_renewed_and_the_call_made_again(bench: Any, component: Path) -> None:
    account, things = bench.connect(expires_in=None), Things(bench, good="a1")
    bench.acme.plays["/me"] = things.read
    reply = use(bench, component, account)
    assert (reply.error, reply.value) == (None, {"things": 2})
    assert [line.msg for line in reply.observations] == ["asked"]
    assert (bench.acme.token_calls, state(bench, account).healthy) == (1, True)


def test_many_calls_that_are_refused_at_once_cause_one_renewal(bench: Any, component: Path) -> None:
    account, things = bench.connect(), Things(bench, good="a1")
    bench.acme.plays["/me"] = things.read
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda _: use(bench, component, account), range(20)))
    assert [reply.value for reply in replies] == [{"things": 2}] * 20
    assert (bench.acme.token_calls, bench.acme.dead) == (1, False)


def test_what_is_refused_for_good_is_marked_at_once(bench: Any, component: Path) -> None:
    account, _ = bench.connect(), Things(bench, good="none")
    bench.acme.me_status, bench.acme.dead = 401, True
    reply = use(bench, component, account)
    assert reply.error is not None
    assert reply.error.name == grants.UNUSABLE
    assert reply.error.message.startswith("The Acme account Ada no longer works; reconnect it. ")
    after = state(bench, account)
    assert (after.healthy, after.dead) == (False, True)


def test_a_refusal_of_one_thing_does_not_end_an_account(bench: Any, component: Path) -> None:
    account, things = bench.connect(), Things(bench, good="none")
    reply = use(bench, component, account)
    assert reply.error is not None
    assert reply.error.message == "The app answered with status 401: The token is revoked."
    assert (things.asked, bench.acme.token_calls, state(bench, account).healthy) == (1, 0, True)


def test_a_call_that_has_changed_something_is_not_made_again(bench: Any, component: Path) -> None:
    account, things = bench.connect(), Things(bench, good="a1")
    bench.acme.plays["/me"] = things.read
    reply = use(bench, component, account, posts=("/post",))
    assert reply.error is not None
    assert (reply.error.status, things.posted) == (401, 1)
    assert credentials.read(bench.service, state(bench, account))["oauth_access_token"] == "a1"


def test_a_component_that_minds_the_refusal_itself_keeps_its_result(bench: Any, component: Path) -> None:
    account, things = bench.connect(), Things(bench, good="a1")
    bench.acme.plays["/me"] = things.read
    reply = use(bench, component, account, check=False)
    assert (reply.ok, reply.value) == (True, {"message": "The token is revoked."})
    assert state(bench, account).revision > account.revision


def test_an_account_that_cannot_be_used_is_a_failed_reply(bench: Any, component: Path) -> None:
    account, things = bench.connect(), Things(bench, good="a0")
    dead = lifecycle.mark_dead(bench.service, account, "Access was withdrawn.")
    reply = use(bench, component, dead)
    assert reply.error is not None
    assert reply.error.message == "The Acme account Ada no longer works; reconnect it. Access was withdrawn."
    assert things.asked == 0


OPERATION = """
name = "List things"
version = "0.0.1"
hints = "reads"
description = "Lists them."
summary = "Listed"
tag = "Things"
scopes = [["things", "more"], ["everything"]]

[props.account]
type = "app"
app = "acme"

[request]
method = "GET"
url = "/forbidden"
"""


@pytest.mark.parametrize(("given", "told"), [(("read",), "everything"), (("read", "things", "more"), "")])
def test_a_refused_operation_names_the_scopes_that_the_account_was_not_given(
    given: tuple[str, ...], told: str, bench: Any, tmp_path: Path
) -> None:
    def forbid(request: BaseHTTPRequestHandler) -> None:
        Things._answer(request, 403, {"message": "Not allowed."})

    account = bench.connect()._replace(authorized_scopes=given, name="Work")
    bench.acme.plays["/forbidden"] = forbid
    path = tmp_path / "actions" / "api-things.toml"
    path.parent.mkdir()
    path.write_text(OPERATION)
    call = Call(str(path), "acme-api-things", "0.0.1")
    granted = grants.grant_accounts(bench.service, {"account": account}, None)
    reply = grants._naming_scopes(bench.service, call, granted, grants._make(bench.service, call, granted))
    assert reply.error and reply.error.status == 403
    sentence = "The account Work was not given everything, which this needs; reconnect it."
    assert (sentence in reply.error.message) is bool(told)
    assert reply.observations[-1].err == reply.error
    assert reply.error.lacking_scopes == ((told,) if told else ())
    shown = reply.error.to_json()
    assert (shown.get("account_id"), shown.get("lacking_scopes")) == ((account.id, [told]) if told else (None, None))


@pytest.mark.parametrize(
    ("status", "kind", "told"), [(200, "http", True), (404, "http", False), (403, "result", False)]
)
def test_a_refusal_is_one_of_the_app(status: int, kind: ErrorKind, told: bool) -> None:
    assert grants._is_refusal(ErrorInfo(kind, "HttpError", "No.", status=status)) is told
