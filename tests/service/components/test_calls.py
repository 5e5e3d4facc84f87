"""Calls travel as JSON and arrive as they left."""

import orjson

from webapp.service.components.calls import AccountGrant, Call
from webapp.service.outbound.templates import Placement


def test_a_call_arrives_as_it_left() -> None:
    grant = AccountGrant({"k": "v"}, "https://x", {"A": "b"}, (Placement("bearer"),), ("x",), None)
    call = Call(path="p", method="options", accounts={"a": grant}, prop="x", page=2, previous={"n": 1})
    found = Call.from_json(orjson.loads(orjson.dumps(call.to_json())))
    assert (found.prop, found.page, found.previous, found.deadline_s) == ("x", 2, {"n": 1}, 30.0)
    assert found.accounts["a"].placements == grant.placements
    assert dict(found.accounts["a"].values) == {"k": "v"}


def test_nothing_secret_is_printed() -> None:
    call = Call(path="p", props={"a": "canary"}, accounts={"a": AccountGrant({"k": "canary"})}, mask=("canary",))
    assert "canary" not in repr(call)
