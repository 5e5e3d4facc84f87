"""Which addresses somebody can sign in by."""

import pytest

from webapp.people import emails


def test_an_address_is_kept_as_it_is_compared() -> None:
    assert emails.checked("  Alice@Example.COM ") == ("alice@example.com", [])
    assert emails.normal("E\u0301va@example.com") == "\u00e9va@example.com"


@pytest.mark.parametrize(
    "email",
    [
        "nobody", "a b@example.com", "a@b@example.com", "a\n@example.com", "<script>@example.com", "a@" + "x" * 260,
        "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_address_is_said_so(email: str) -> None:
    (problem,) = emails.checked(email)[1]
    assert problem.field == "email" and "name@example.com" in problem.message


def test_nothing_is_asked_for() -> None:
    assert emails.checked("  ")[1][0].message == "Enter your e-mail address."
