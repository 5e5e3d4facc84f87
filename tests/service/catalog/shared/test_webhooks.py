"""A trigger remembers the webhook that it registered, and a forged or stale request is recognised."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from webapp.kit.clock import SECOND
from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import ComponentError, Context
from webapp.service.components.context import Memory

NOW_S = 1_800_000_000


def trigger(status: int = 204, **event: Any) -> Context:
    answer = SimpleNamespace(ok=status < 300, status=status)
    http = SimpleNamespace(delete=lambda *_, **__: answer)
    return cast(Context, SimpleNamespace(db=Memory({}, lambda _: None), http=http, event={"headers": {}} | event))


def test_what_was_registered_is_remembered_and_forgotten() -> None:
    ctx = trigger()
    with pytest.raises(ComponentError, match="before the webhook was in place"):
        webhooks.shared_secret(ctx)
    webhooks.remember(ctx, 7, "s")
    assert (webhooks.registered_id(ctx), webhooks.shared_secret(ctx)) == ("7", "s")
    webhooks.remove(ctx, "/hooks/7")
    assert webhooks.registered_id(ctx) is None


@pytest.mark.parametrize("status", [404, 410])
def test_a_webhook_may_be_gone_already(status: int) -> None:
    ctx = trigger(status)
    webhooks.remember(ctx, "7", "s")
    webhooks.remove(ctx, "/hooks/7")
    assert webhooks.registered_id(ctx) is None


def test_a_webhook_that_cannot_be_removed_stays_known() -> None:
    ctx = trigger(500)
    webhooks.remember(ctx, "7", "s")
    with pytest.raises(ComponentError, match="500"):
        webhooks.remove(ctx, "/hooks/7")
    assert webhooks.registered_id(ctx) == "7"


@pytest.mark.parametrize(
    ("seconds", "recent"),
    [(str(NOW_S), True), (str(NOW_S - 300), True), (str(NOW_S - 301), False), (str(NOW_S + 301), False),
     ("", False), ("x", False), ("9" * 13, False), ("٣", False)],
)  # fmt: skip
def test_a_signed_time_is_five_minutes_good(seconds: str, recent: bool) -> None:
    assert webhooks.is_recent(trigger(timestamp=NOW_S * SECOND), seconds) is recent


def test_signatures_are_those_of_rfc_4231() -> None:
    digest = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert webhooks.hmac_sha256("Jefe", "what do ya want for nothing?") == digest
    assert webhooks.equal(digest, digest) and not webhooks.equal("", digest)
    assert webhooks.new_secret() != webhooks.new_secret() and len(webhooks.new_secret()) == 43


def test_a_header_is_found_in_any_case() -> None:
    ctx = trigger(headers={"x-signature": "s"})
    assert (webhooks.header(ctx, "X-Signature"), webhooks.header(ctx, "Other")) == ("s", "")
