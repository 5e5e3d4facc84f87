"""Calls with accounts, which are looked after when they are refused in use.

The provider is a fake of the tests, and stands for no real one.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components.calls import Call, ErrorInfo, ErrorKind, Reply
from webapp.service.domain.accounts import account_state, accounts, credentials
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.components import account_grants, component_calls

Plant = Callable[..., Account]
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
    return component_calls.call(bench.service, call, {"account": account}, None)


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
    assert reply.error.name == component_calls.UNUSABLE
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
    dead = account_state.mark_dead(bench.service, account, "Access was withdrawn.")
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
    granted = account_grants.grant(bench.service, {"account": account}, None)
    reply = component_calls._naming_scopes(
        bench.service, call, granted, component_calls._make(bench.service, call, granted)
    )
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
    assert component_calls._is_refusal(ErrorInfo(kind, "HttpError", "No.", status=status)) is told
