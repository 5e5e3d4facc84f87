import pytest

from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import HostRules, Url, masked_url, parse_url


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


def url(text: str) -> Url:
    parsed = parse_url(text)
    assert isinstance(parsed, Url)
    return parsed


@pytest.mark.parametrize(
    ("rule", "address", "admitted"),
    [
        ("api.example.com", "https://API.example.com./v1", True),
        ("api.example.com", "http://api.example.com/", False),
        ("api.example.com", "https://api.example.com:8443/", False),
        ("api.example.com:8443", "https://api.example.com:8443/", True),
        ("api.example.com", "https://evil-api.example.com/", False),
        ("api.example.com", "https://api.example.com.evil.test/", False),
        ("*.example.com", "https://a.b.example.com/", True),
        ("*.example.com", "https://example.com/", False),
        ("*.example.com", "https://evilexample.com/", False),
        ("127.0.0.1:8081", "http://127.0.0.1:8081/", True),
        ("[::1]:8081", "http://[::1]:8081/", True),
    ],
)
def test_rules(rule: str, address: str, admitted: bool) -> None:
    assert HostRules.of(rule).admit(url(address)) is admitted
    assert HostRules.of(rule, "other.test").admit(url(address)) is admitted


def test_no_rule_admits_nothing() -> None:
    assert not HostRules.of().admit(url("https://api.example.com/"))


@pytest.mark.parametrize("rule", ["", "*", "*.com", "https://a.test", "a.test/x", "a.test:x", "a b", "*.*.test"])
def test_bad_rules_are_named(rule: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        HostRules.of(rule)


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://hooks.example/secret?key=1", "https://hooks.example/…"),
        ("http://u:p@[::1]:8080/x", "http://[::1]:8080/…"),
        ("nonsense", "…"),
        ("http://[::1", "…"),
    ],
)
def test_a_masked_one_ends_with_its_host(url: str, masked: str) -> None:
    assert masked_url(url) == masked
