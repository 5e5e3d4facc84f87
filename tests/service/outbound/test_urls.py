import pytest

from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import Url, parse_url


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("HTTPS://API.Example.com", "https://api.example.com/"),
        ("https://api.example.com:443/a?b#c", "https://api.example.com/a?b"),
        ("http://api.example.com:8080?x=1", "http://api.example.com:8080/?x=1"),
        ("http://[2606:4700:0::1]:80/", "http://[2606:4700::1]/"),
        ("https://my_host.example.com./ü", "https://my_host.example.com/%C3%BC"),
        ("https://straße.example/", "https://xn--strae-oqa.example/"),
        ("https://a.example/%2e%2E/x%20y", "https://a.example/%2e%2E/x%20y"),
        ('https://a.example/a|b"<>', "https://a.example/a%7Cb%22%3C%3E"),
        ("https://a.example:/", "https://a.example/"),
    ],
)
def test_one_reading(text: str, canonical: str) -> None:
    assert str(parse_url(text)) == canonical


def test_parameters_are_appended() -> None:
    url = parse_url("https://a.example/x?y=1")
    assert isinstance(url, Url)
    assert str(url.with_params({"q": "a&b", "e": "\ud800"})) == "https://a.example/x?y=1&q=a%26b&e=%3F"
    assert url.with_params({}) is url


@pytest.mark.parametrize(
    "text", ["", "a", "https://", "https:///x", "mailto:a@b.test", "https://[::1", "https://a.test\u2028/"]
)
def test_what_is_no_url(text: str) -> None:
    assert isinstance(parse_url(text), Failure)
