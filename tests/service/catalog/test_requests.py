"""Addresses and host rules of an app's requests."""

import pytest

from webapp.service.catalog.requests import absolute, host_rule
from webapp.service.outbound.templates import TemplateError


def test_absolute() -> None:
    assert absolute("https://a.example/v1/", "/me") == "https://a.example/v1/me"
    assert absolute("https://a.example/v1", "https://b.example/me") == "https://b.example/me"
    assert absolute(None, "/me") == "/me"


def test_a_whole_address_becomes_a_host_rule() -> None:
    assert host_rule("*.example.com") == "*.example.com"
    assert host_rule("https://a.example/v1") == "a.example:443"
    assert host_rule("http://[::1]:8001") == "[::1]:8001"
    with pytest.raises(TemplateError):
        host_rule("ftp://a.example")
