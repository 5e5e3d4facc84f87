"""The integration of the manual's page does what its page says, against a shop that is played."""

import json
from typing import Any

import pytest

from tests.fakes.pieces.manual_example import KEY
from tests.fakes.triggers import emitted
from tests.peers.pieces.conftest import Ours
from webapp.kit.clock import MINUTE

pytestmark = pytest.mark.peer


@pytest.fixture
def account(ours: Ours) -> dict[str, Any]:
    return {"shop": ours.bench.account("alice", "shop", {"api_key": KEY})}


def test_orders_are_made_of_a_product_that_is_looked_up(ours: Ours, account: dict[str, Any]) -> None:
    path = "components/configure"
    offered = ours.bench.ask(path, "shop-create-order", "alice", account, prop_name="product")["options"]
    assert [each["label"] for each in offered] == ["Paper", "Pens"]
    made = ours.bench.run("shop-create-order", "alice", {**account, "product": "p2"})
    assert made["ret"] | {"id": 0} == {"id": 0, "product": "p2"}
    found = ours.bench.run("shop-find-orders", "alice", {**account, "email": "ada@example.com"})
    assert found["ret"][0]["product"] == "p2"


def test_new_orders_are_reported_once(ours: Ours, account: dict[str, Any]) -> None:
    bench = ours.bench
    trigger = bench.deploy("shop-new-order", "alice", account)
    bench.work()
    ours.shop.orders.insert(0, {"id": 1_000, "product": "p1"})
    for _ in range(2):
        bench.clock.advance(16 * MINUTE)
        bench.work()
        events = [json.loads(event["e"]) for event in emitted(bench.installation.service, trigger)]
        assert events == [{"id": 1_000, "product": "p1"}]
    assert bench.delete(trigger, "alice") == 204
