"""Stripe's actions, against a fake written from https://docs.stripe.com/api."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer
from webapp.service.catalog.apps.stripe.common import money

CUSTOMERS = [{"id": f"cus_{n}", "name": f"Person {n}", "email": f"p{n}@example.com"} for n in range(250)]
PAYMENTS = [
    {"id": "pi_1", "amount": 1999, "currency": "usd", "status": "succeeded", "description": "Tea"},
    {"id": "pi_2", "amount": 500, "currency": "jpy", "status": "succeeded", "description": None},
    {"id": "pi_3", "amount": 1, "currency": "eur", "status": "canceled", "description": "Never"},
]


def listing(found: list[dict[str, Any]]) -> Callable[[Asked], Any]:
    """A list endpoint over ``found``: limit and starting_after, as https://docs.stripe.com/api/pagination has them."""

    def answer(asked: Asked) -> Any:
        wanted = [one for one in found if asked.query.get("email") in (None, one.get("email"))]
        ids = [one["id"] for one in wanted]
        start = ids.index(asked.query["starting_after"]) + 1 if "starting_after" in asked.query else 0
        end = start + int(asked.query.get("limit", 10))
        return {"object": "list", "data": wanted[start:end], "has_more": end < len(wanted)}

    return answer


@pytest.fixture
def stripe(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("stripe", api_key="sk_test_1")
    made.on("GET /v1/customers", listing(CUSTOMERS))
    made.on("GET /v1/payment_intents", listing(PAYMENTS))
    return made


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [(1999, "usd", "19.99 USD"), (500, "jpy", "500 JPY"), (1234, "kwd", "1.234 KWD"), (500, "ugx", "5.00 UGX")],
)
def test_money_is_written_in_the_unit_of_its_currency(amount: int, currency: str, written: str) -> None:
    assert money(amount, currency) == written


def test_customers_are_offered_page_by_page(stripe: AppHarness) -> None:
    first = stripe.options("list-payments", "customer")
    assert (len(first["found"]), first["context"]) == (100, {"cursor": "cus_99"})
    third = stripe.options("list-payments", "customer", page=2, previous={"cursor": "cus_199"})
    assert (len(third["found"]), third["context"]) == (50, None)
    assert stripe.options("list-payments", "customer", page=3)["found"] == {}


def test_a_search_for_a_customer_reads_on_until_it_finds_one(stripe: AppHarness) -> None:
    found = stripe.options("list-payments", "customer", query="P240@")
    assert found == {"found": {"Person 240 · p240@example.com": "cus_240"}, "context": None}


def test_payments_that_succeeded_are_offered(stripe: AppHarness) -> None:
    found = stripe.options("create-refund", "payment_intent")["found"]
    assert found == {"19.99 USD · Tea": "pi_1", "500 JPY · pi_2": "pi_2"}


def test_a_customer_is_created(stripe: AppHarness) -> None:
    stripe.on("POST /v1/customers", {"id": "cus_9", "email": "ada@example.com"})
    reply = stripe.run("create-customer", email="ada@example.com", name="Ada", metadata={"order id": "a&b"})
    assert stripe.last.form == {"email": "ada@example.com", "name": "Ada", "metadata[order id]": "a&b"}
    assert reply.exports["$summary"] == "Created the customer ada@example.com"


def test_customers_are_found_by_address(stripe: AppHarness) -> None:
    assert [one["id"] for one in stripe.run("find-customers", email="p7@example.com").value] == ["cus_7"]


def test_payments_are_listed(stripe: AppHarness) -> None:
    reply = stripe.run("list-payments", customer="cus_1", most=2)
    assert [one["id"] for one in reply.value] == ["pi_1", "pi_2"]
    assert stripe.last.query == {"limit": "2", "customer": "cus_1"}


def test_a_long_list_is_read_in_pages(stripe: AppHarness) -> None:
    many = [{**PAYMENTS[0], "id": f"pi_{n}"} for n in range(150)]
    stripe.on("GET /v1/payment_intents", listing(many))
    assert len(stripe.run("list-payments", most=120).value) == 120
    assert [one.query["limit"] for one in stripe.provider.asked] == ["100", "20"]


def test_a_part_is_refunded(stripe: AppHarness) -> None:
    stripe.on("POST /v1/refunds", {"id": "re_1", "amount": 500, "currency": "usd", "status": "succeeded"})
    reply = stripe.run("create-refund", payment_intent="pi_1", amount=500, reason="duplicate")
    assert stripe.last.form == {"payment_intent": "pi_1", "amount": "500", "reason": "duplicate"}
    assert reply.exports["$summary"] == "Refunded 5.00 USD"


def test_the_balance_is_summed_up(stripe: AppHarness) -> None:
    available = [{"amount": 1050, "currency": "eur"}, {"amount": 7, "currency": "jpy"}]
    stripe.on("GET /v1/balance", {"object": "balance", "available": available, "pending": []})
    assert stripe.run("retrieve-balance").exports["$summary"] == "Available: 10.50 EUR, 7 JPY"


def test_what_stripe_says_is_passed_on(stripe: AppHarness) -> None:
    error = {"error": {"type": "invalid_request_error", "message": "Charge ch_1 has already been refunded."}}
    stripe.on("POST /v1/refunds", FakeAnswer(400, error))
    assert stripe.refuses("create-refund", payment_intent="pi_1") == (
        "The app answered with status 400: Charge ch_1 has already been refunded."
    )
