"""What a component's methods get: values, accounts whose secrets do not print, and answers that are checked."""

from typing import Any

import pytest

from webapp.service.components.authoring import boolean, http_interface, string
from webapp.service.components.brokered_http import BrokerLine
from webapp.service.components.child_calls import AccountFields, ChildCall
from webapp.service.components.context import Context, Memory, Secrets
from webapp.service.components.errors import ComponentError
from webapp.service.components.props import Prop


class Bench:
    """Makes contexts, and keeps what they send."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def context(self, declared: dict[str, Prop] | None = None, **fields: Any) -> Context:
        return Context(ChildCall(path="thing.py", **fields), declared or {}, BrokerLine(-1), self.sent.append)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def answering(bench: Bench) -> Context:
    """The context of a trigger that may answer its request."""
    return bench.context({"http": http_interface(custom_response=True)})


def test_values_have_defaults_and_the_undeclared_stand_apart(bench: Bench) -> None:
    declared = {"title": string(label="Title", default="None yet"), "loud": boolean(label="Loud")}
    context = bench.context(declared, props={"loud": True, "more": 1})
    assert (context.props.title, context.props["loud"], dict(context.extra)) == ("None yet", True, {"more": 1})
    assert dict(context.props) | {"more": 1} == {"title": "None yet", "loud": True, "more": 1}
    with pytest.raises(AttributeError, match="no prop named colour"):
        _ = context.props.colour


def test_secrets_are_read_and_never_printed(bench: Bench) -> None:
    context = bench.context(accounts={"app": AccountFields(("key", "token"), {"key": "canary"})})
    assert context.auth["key"] == "canary"
    assert repr(context.auth) == str(Secrets(AccountFields(("key", "token")))) == "Secrets(key, token)"
    assert (list(context.auth), context.auth.get("other")) == (["key", "token"], None)
    with pytest.raises(ComponentError, match="says reads_secrets = True"):
        context.auth.get("token")
    assert "canary" not in f"{context.auth} {context.accounts}"


def test_the_account_must_be_the_only_one(bench: Bench) -> None:
    with pytest.raises(ComponentError, match="choose one"):
        _ = bench.context().account
    two = bench.context(accounts={"a": AccountFields(), "b": AccountFields()})
    with pytest.raises(ComponentError, match="several accounts"):
        _ = two.account
    assert two.accounts["a"].http is not two.accounts["b"].http


def test_what_happens_is_sent_at_once(bench: Bench) -> None:
    context = bench.context(state={"seen": 1})
    context.export("$summary", "Done")
    context.log("a", 1, "\ud800")
    context.emit({"n": 1}, id=7, ts=5)
    context.db.set("seen", 2)
    first, line, event, memory = bench.sent
    assert first == {"export": "$summary", "value": "Done"}
    assert line["log"] == "a 1 ?"
    assert event == {"emit": {"n": 1}, "id": "7", "summary": None, "ts": 5}
    assert memory == {"set": "seen", "value": 2}
    assert (context.db.get("seen"), context.db.get("never", 0)) == (2, 0)
    assert Memory({}, bench.sent.append).get("seen") is None


def test_only_a_trigger_that_declares_it_answers(bench: Bench) -> None:
    with pytest.raises(ComponentError, match="custom_response=True"):
        bench.context().respond(200, "ok")
    assert bench.sent == []


def test_an_answer_is_sent_with_its_headers_in_lower_case(bench: Bench, answering: Context) -> None:
    answering.respond(201, {"ok": True}, {"X-Own": "1"})
    assert bench.sent == [
        {"respond": 201, "body": '{"ok":true}', "headers": {"content-type": "application/json", "x-own": "1"}}
    ]


@pytest.mark.parametrize(
    ("status", "headers"),
    [(99, {}), (600, {}), (200, {"X": "a\r\nSet-Cookie: b"}), (200, {"X Y": "a"}), (200, {"": "a"})],
)
def test_an_answer_that_is_none_is_refused(
    bench: Bench, answering: Context, status: int, headers: dict[str, str]
) -> None:
    with pytest.raises(ComponentError):
        answering.respond(status, "", headers)
    assert bench.sent == []
