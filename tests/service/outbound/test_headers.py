"""Which headers may be sent, and which go to another origin."""

import pytest

from webapp.service.outbound.headers import HARMLESS, RESERVED, header_refusal


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_caller_sets_no_header_of_the_transport(name: str) -> None:
    refusal = header_refusal(name.title(), "x")
    assert refusal is not None
    assert refusal.sentence == f"The header {name.title()} is set by the service. Leave it out."


@pytest.mark.parametrize(
    ("name", "value"), [("", "x"), ("X Y", "x"), ("X:", "x"), ("X", "a\r\nY: b"), ("X", "ü" * 2 + "—")]
)
def test_a_header_that_would_break_the_message_is_refused(name: str, value: str) -> None:
    assert header_refusal(name, value) is not None


def test_what_another_origin_gets_is_no_credential() -> None:
    assert header_refusal("X-Api-Key", "secret") is None
    assert not HARMLESS & {"authorization", "cookie", "x-api-key", *RESERVED}
