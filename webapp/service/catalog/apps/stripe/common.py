"""What Stripe's components in Python share: amounts of money, types of events, signatures."""

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import Context, Options, app

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


def money(amount: int, currency: str) -> str:
    """An amount in the smallest unit of its currency, as people write it: ``19.99 USD``."""
    decimals = 0 if currency in _NO_DECIMALS else 3 if currency in _THREE_DECIMALS else 2
    return f"{amount / 10**decimals:.{decimals}f} {currency.upper()}"


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


account = app("stripe")
