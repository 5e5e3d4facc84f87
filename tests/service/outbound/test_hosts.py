import pytest

from webapp.service.outbound.hosts import HostRules
from webapp.service.outbound.urls import Url, parse_url


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
    assert HostRules.merge([HostRules.of(rule), HostRules.of("other.test")]).admit(url(address)) is admitted


def test_no_rule_admits_nothing() -> None:
    assert not HostRules.of().admit(url("https://api.example.com/"))


@pytest.mark.parametrize("rule", ["", "*", "*.com", "https://a.test", "a.test/x", "a.test:x", "a b", "*.*.test"])
def test_bad_rules_are_named(rule: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        HostRules.of(rule)
