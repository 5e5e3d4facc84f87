"""What the Stripe components share: lists, amounts of money, choosing a customer, a payment or types of events."""

from collections.abc import Callable, Mapping
from typing import Any

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import Context, Option, Options, app, string

_PAGES_AT_ONCE, _PAGE = 5, 100
# https://docs.stripe.com/currencies; UGX has none, but amounts of it are written with two all the same.
_NO_DECIMALS = frozenset(
    {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"}
)
_THREE_DECIMALS = frozenset({"bhd", "jod", "kwd", "omr", "tnd"})
# Of https://docs.stripe.com/api/events/types, which is long, those that most integrations ask for.
_EVENT_TYPES = (
    "*",
    "charge.dispute.created", "charge.failed", "charge.refunded", "charge.succeeded",
    "checkout.session.async_payment_failed", "checkout.session.async_payment_succeeded", "checkout.session.completed",
    "checkout.session.expired",
    "customer.created", "customer.deleted", "customer.updated",
    "customer.subscription.created", "customer.subscription.deleted", "customer.subscription.paused",
    "customer.subscription.resumed", "customer.subscription.trial_will_end", "customer.subscription.updated",
    "invoice.created", "invoice.finalized", "invoice.overdue", "invoice.paid", "invoice.payment_action_required",
    "invoice.payment_failed", "invoice.payment_succeeded", "invoice.upcoming", "invoice.voided",
    "payment_intent.canceled", "payment_intent.created", "payment_intent.payment_failed",
    "payment_intent.requires_action", "payment_intent.succeeded",
    "payment_method.attached", "payment_method.detached",
    "payout.created", "payout.failed", "payout.paid",
    "price.created", "price.updated", "product.created", "product.updated",
    "refund.created", "refund.failed", "refund.updated",
    "setup_intent.setup_failed", "setup_intent.succeeded",
)  # fmt: skip
JsonObject = dict[str, Any]


def money(amount: int, currency: str) -> str:
    """An amount in the smallest unit of its currency, as people write it: ``19.99 USD``."""
    decimals = 0 if currency in _NO_DECIMALS else 3 if currency in _THREE_DECIMALS else 2
    return f"{amount / 10**decimals:.{decimals}f} {currency.upper()}"


def listed(ctx: Context, path: str, most: int, **params: Any) -> list[JsonObject]:
    """Up to ``most`` of a list, newest first."""
    rows: list[JsonObject] = []
    while True:
        after = rows[-1]["id"] if rows else None
        page = {**params, "limit": min(_PAGE, most - len(rows)), "starting_after": after}
        answer = ctx.http.get(path, params=page).json()
        rows += answer["data"]
        if not answer["has_more"] or len(rows) >= most or not answer["data"]:
            return rows


def as_metadata(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    """The members of ``metadata`` as a form has them."""
    return {f"metadata[{name}]": value for name, value in (fields or {}).items()}


def find_customers(ctx: Context) -> Options:
    """The customers, newest first."""
    return _find(ctx, "/v1/customers", _customer)


def find_payments(ctx: Context) -> Options:
    """The payments that succeeded, newest first."""
    return _find(ctx, "/v1/payment_intents", _payment)


def find_event_types(ctx: Context) -> Options:
    """The everyday types of events; any other may be typed in."""
    return Options([] if ctx.page else [event_type for event_type in _EVENT_TYPES if ctx.query.lower() in event_type])


def signed_by_stripe(ctx: Context, secret: str) -> bool:
    """Whether ``Stripe-Signature`` fits the request that came: https://docs.stripe.com/webhooks/signature.

    The header holds a time and, while a secret is exchanged, several signatures of which one has to fit.
    """
    parts = [part.strip().partition("=") for part in webhooks.header(ctx, "Stripe-Signature").split(",")]
    sent = next((value for name, _, value in parts if name == "t"), "")
    expected = webhooks.hmac_sha256(secret, f"{sent}.{ctx.event['bodyRaw']}")
    fits = [webhooks.equal(value, expected) for name, _, value in parts if name == "v1"]
    return any(fits) and webhooks.is_recent(ctx, sent)


def _find(ctx: Context, path: str, name: Callable[[JsonObject], str | None]) -> Options:
    """Read pages until one holds something that fits the query. What has no ``name`` is not offered."""
    after = ctx.previous.get("after")
    options: list[Option] = []
    if ctx.page and not after:
        return Options([])
    for _ in range(_PAGES_AT_ONCE):
        answer = ctx.http.get(path, params={"limit": _PAGE, "starting_after": after}).json()
        named = ((row["id"], name(row)) for row in answer["data"])
        options = [Option(label, id) for id, label in named if label and ctx.query.lower() in label.lower()]
        after = answer["data"][-1]["id"] if answer["has_more"] and answer["data"] else None
        if options or not after:
            break
    return Options(options, {"after": after} if after else None)


def _customer(customer: JsonObject) -> str:
    return " · ".join(filter(None, (customer.get("name"), customer.get("email")))) or str(customer["id"])


def _payment(payment: JsonObject) -> str | None:
    if payment["status"] != "succeeded":
        return None
    return f"{money(payment['amount'], payment['currency'])} · {payment.get('description') or payment['id']}"


account = app("stripe")
customer_prop = string(label="Customer", description="Its id begins with cus_.", options=find_customers, use_query=True)
payment_prop = string(label="Payment", description="Its id begins with pi_.", options=find_payments, use_query=True)
