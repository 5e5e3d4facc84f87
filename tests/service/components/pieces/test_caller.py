"""When what a piece's trigger made is to be renewed.

What the wire has becomes what a piece takes, and what it gives becomes what components give.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.service.components.pieces import samples
from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.service.components.calls import AccountGrant, Call, ErrorInfo, PieceBounds, Reply
from webapp.service.components.pieces import caller
from webapp.service.components.pieces import caller as module
from webapp.service.components.pieces.caller import PieceCaller
from webapp.service.components.pieces.conversation import Request
from webapp.service.components.pieces.package_calls import PackageCall

NOON = 1_700_049_600_000  # 2023-11-15T12:00:00Z
GRANT = AccountGrant({"oauth_access_token": "t0ken"}, app="acme")
REFUSED = Reply(None, error=ErrorInfo("http", "HttpError", "Unauthorized.", status=401))
requests: list[Request] = []


@pytest.mark.parametrize(
    ("cron", "wait"), [("0 */6 * * *", 6 * HOUR), ("*/5 * * * *", 5 * MINUTE), ("not a cron", DAY), ("0 0 31 2 *", DAY)]
)
def test_two_thirds_of_its_time_end_at_the_next_tick(cron: str, wait: int) -> None:
    assert caller.ends_at(cron, NOON) - NOON == wait * 3 // 2


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Reply], PieceCaller]:
    """A caller whose conversations all come to this reply."""

    def with_reply(reply: Reply) -> PieceCaller:
        class Conversation:
            def __init__(self, request: Request, *_: object) -> None:
                requests.append(request)

            def hold(self) -> Reply:
                return reply

        requests.clear()
        monkeypatch.setattr(module, "Conversation", Conversation)
        return PieceCaller(lambda _: None, PieceBounds())

    return with_reply


def call(tmp_path: Path, changes: Mapping[str, Any] = {}, **fields: Any) -> Call:
    path = str(samples.write(tmp_path, **changes))
    return Call(path, **{"accounts": {"acme": GRANT}, "props": {"title": "T"}, **fields})


def test_a_call_goes_to_its_package_with_its_values_and_its_account(
    tmp_path: Path, answered: Callable[[Reply], PieceCaller]
) -> None:
    piece = {"auth": {"acme": {"type": "OAUTH2", "hosts": ["{host}"]}}}
    grant = replace(GRANT, values={**GRANT.values, "host": "own.example"})
    asked_for = call(
        tmp_path, piece, hosts=("api.acme.example",), user="u1", state={"flow:a": 1}, event={"body": 1},
        endpoint="https://h.example", files={"a": "eA=="}, allow_hosts=("x:1",), stash=True, deadline_s=3,
        accounts={"acme": grant},
    )  # fmt: skip
    assert answered(Reply(7)).call(asked_for).value == 7
    (request,) = requests
    assert request.folder == tmp_path / "pieces" / "packages" / "piece-acme" / "0.2.0"
    assert (request.package, request.user, request.stash, request.deadline_s) == ("@acme/piece-acme", "u1", True, 3)
    assert (set(request.reach.hosts), request.reach.allow_hosts) == ({"api.acme.example", "own.example"}, ("x:1",))
    assert request.call["auth"]["access_token"] == "t0ken"
    told = {name: request.call[name] for name in ("method", "kind", "name", "state", "event", "endpoint", "files")}
    assert told == {
        "method": "run", "kind": "action", "name": "add_task", "state": {"flow:a": 1}, "event": {"body": 1},
        "endpoint": "https://h.example", "files": {"a": "eA=="},
    }  # fmt: skip


def test_options_and_reloads_come_as_components_give_them(
    tmp_path: Path, answered: Callable[[Reply], PieceCaller]
) -> None:
    options = {"options": [{"label": "One", "value": "1"}]}
    reply = answered(Reply(options)).call(call(tmp_path, method="options", prop="title"))
    assert reply.value["options"] == [{"label": "One", "value": "1"}]
    assert [prop["name"] for prop in answered(Reply({})).call(call(tmp_path, method="reload")).value][-1] == "title"
    disabled = {"options": [], "disabled": True, "placeholder": "Choose a project first"}
    refused = answered(Reply(disabled, refused_hosts=("x",))).call(call(tmp_path, method="options", prop="title"))
    assert refused.error is not None and "project" in refused.error.message
    assert refused.refused_hosts == ("x",)


@pytest.mark.parametrize(
    ("prop", "prop_and_field"),
    [("wire_title", ("title", None)), ("fields__Due_x20_date_xdate", ("own-fields", "Due date")), ("x", ("x", None))],
)
def test_options_are_asked_for_by_the_names_of_the_piece(
    tmp_path: Path, answered: Callable[[Reply], PieceCaller], prop: str, prop_and_field: tuple[str, str | None]
) -> None:
    props = {"wire_title": {"name": "title"}, "fields": {"name": "own-fields", "kind": "dynamic"}}
    answered(Reply({"options": []})).call(call(tmp_path, {"props": props}, method="options", prop=prop, props={}))
    assert (requests[0].call["prop"], requests[0].call["field"]) == prop_and_field


@pytest.mark.parametrize(
    ("method", "read_only", "repeatable"),
    [("run", False, False), ("run", True, True), ("options", False, True), ("reload", False, True)],
)
def test_a_refused_credential_is_reported_and_only_what_reads_is_repeated(
    tmp_path: Path, answered: Callable[[Reply], PieceCaller], method: Any, read_only: bool, repeatable: bool
) -> None:
    reply = answered(REFUSED).call(call(tmp_path, {"read_only": read_only}, method=method))
    assert (reply.refused, reply.repeatable) == (("acme",), repeatable)
    assert answered(REFUSED).call(call(tmp_path, accounts={}, method=method)).refused == ()


def test_another_failure_refuses_no_account(tmp_path: Path, answered: Callable[[Reply], PieceCaller]) -> None:
    failed = Reply(None, error=ErrorInfo("http", "HttpError", "Not found.", status=404))
    assert answered(failed).call(call(tmp_path)).refused == ()


def test_a_trigger_says_when_to_renew(tmp_path: Path, answered: Callable[[Reply], PieceCaller]) -> None:
    piece = {"renew": "0 0 * * *"}
    assert answered(Reply(None)).call(call(tmp_path, piece, method="activate")).ends_at is not None
    assert answered(Reply(None)).call(call(tmp_path, piece)).ends_at is None


def test_a_declaration_needs_no_process(tmp_path: Path, answered: Callable[[Reply], PieceCaller]) -> None:
    reply = answered(Reply(None)).call(call(tmp_path, method="declare"))
    assert (reply.value["name"], reply.value["problems"], requests) == ("Add a task", [], [])


@pytest.mark.parametrize("fault", ["no file", "another account"])
def test_what_cannot_be_asked_is_a_sentence(
    tmp_path: Path, answered: Callable[[Reply], PieceCaller], fault: str
) -> None:
    other = call(tmp_path, accounts={"acme": replace(GRANT, app="other")})
    reply = answered(Reply(None)).call(Call(str(tmp_path / "a.json")) if fault == "no file" else other)
    assert reply.error is not None and reply.error.message and requests == []


def test_a_package_is_asked_by_itself(tmp_path: Path, answered: Callable[[Reply], PieceCaller]) -> None:
    question = PackageCall(tmp_path, "@acme/piece-acme", "parse", {"event": {"a": 1}}, hosts=("x.example",), user="u")
    assert answered(Reply({"event": "e"})).ask(question).value == {"event": "e"}
    (request,) = requests
    assert (request.call["method"], request.call["event"], request.reach.hosts) == ("parse", {"a": 1}, ("x.example",))
