import pytest

from webapp.service.link.answers import host_of, with_parameter


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("https://a.example", "https://a.example/?error=x"),
        ("https://a.example/p?", "https://a.example/p?error=x"),
        ("https://a.example/p?a=1#f", "https://a.example/p?a=1&error=x#f"),
        ("https://a.example/p?a=%26b", "https://a.example/p?a=%26b&error=x"),
        ("http://localhost:3000/p#/route?q=1", "http://localhost:3000/p?error=x#/route?q=1"),
        ("javascript:alert(1)", None),
        ("//evil.example", None),
        ("https://", None),
        ("http://[::1", None),
        (None, None),
    ],
)
def test_a_parameter_joins_what_is_there(uri: str | None, expected: str | None) -> None:
    assert with_parameter(uri, "error", "x") == expected


def test_the_value_cannot_leave_its_place() -> None:
    assert (
        with_parameter("https://a.example/", "error", "a&b=c#d\r\n") == "https://a.example/?error=a%26b%3Dc%23d%0D%0A"
    )


def test_the_host_is_shown_without_a_user_name() -> None:
    assert host_of("https://bank.example@evil.example:8443/x") == "evil.example:8443"
