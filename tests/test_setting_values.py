"""How the text of a setting becomes its value: each reader takes what is good, and refuses the rest in one sentence."""

from collections.abc import Callable
from typing import Any

import pytest

from webapp import setting_values as values
from webapp.setting_values import BadSetting

NAME = "PATCHBAY_THING"


@pytest.mark.parametrize(
    ("read", "given", "value"),
    [
        (values.text, " any ", " any "),
        (values.token, "x" * 16, "x" * 16),
        (values.domain, "In.Example.COM", "in.example.com"),
        (values.address, "::1", "::1"),
        (values.address, "0.0.0.0", "0.0.0.0"),
        (values.port, "65535", 65535),
        (values.number(2, 9), "9", 9),
        (values.choice("a", "b"), "b", "b"),
        (values.switch, "ON", True),
        (values.switch, "off", False),
        (values.url, "HTTPS://Connect.Example/", "https://connect.example"),
        (values.url, "http://[::1]:8000", "http://[::1]:8000"),
        (values.base_url, "https://a.example/base/", "https://a.example/base"),
        (values.issuer, "https://a.example/", "https://a.example/"),
        (values.words, "a,b  c", ("a", "b", "c")),
        (values.roles, "a = owner , b=member,", (("a", "owner"), ("b", "member"))),
        (values.key, "k" * 32, "k" * 32),
        (values.hosts, "Localhost, [::1]:80\n10.0.0.1", ("localhost", "[::1]:80", "10.0.0.1")),
        (values.networks, "10.0.0.0/8 ::1", ("10.0.0.0/8", "::1")),
        (values.storage, "redis+unix://x", "redis+unix://x"),
        (values.database, "postgresql://u:p%25@db.example/patchbay", "postgresql://u:p%25@db.example/patchbay"),
        (
            values.database,
            "postgres://[::1]:5432,b.example/d?connect_timeout=5",
            "postgres://[::1]:5432,b.example/d?connect_timeout=5",
        ),
        (values.project, "proj_8sKx2", "proj_8sKx2"),
    ],
)
def test_what_is_good(read: Callable[[str, str], Any], given: str, value: Any) -> None:
    assert read(NAME, given) == value


@pytest.mark.parametrize(
    ("read", "given"),
    [
        (values.token, "short"),
        (values.token, "x" * 16 + " "),
        (values.token, "ü" * 16),
        (values.domain, "-a.example"),
        (values.domain, "a..b"),
        (values.domain, "a" * 254),
        (values.address, "[::1]"),
        (values.address, "host:80"),
        (values.port, "0"),
        (values.port, "65536"),
        (values.port, "-1"),
        (values.port, "\u0661"),
        (values.choice("a", "b"), "c"),
        (values.switch, "yes"),
        (values.url, "ftp://a.example"),
        (values.url, "https://"),
        (values.url, "https://a.example/path"),
        (values.url, "https://user@a.example"),
        (values.url, "https://a.example:0"),
        (values.url, "https://a.example:port"),
        (values.url, "https://[::1"),
        (values.base_url, "https://a.example?x"),
        (values.base_url, "//a.example"),
        (values.base_url, "https://[::1"),
        (values.issuer, "a.example"),
        (values.roles, "a=root"),
        (values.roles, "owner"),
        (values.key, "k" * 31),
        (values.hosts, "a.example:0"),
        (values.hosts, "a.example:70000"),
        (values.hosts, "https://a.example"),
        (values.networks, "10.0.0.1/8"),
        (values.networks, "here"),
        (values.storage, "redis"),
        (values.database, "mysql://db.example/patchbay"),
        (values.database, "postgresql://db.example"),
        (values.project, "8sKx2"),
    ],
)
def test_what_is_refused_names_the_setting(read: Callable[[str, str], Any], given: str) -> None:
    with pytest.raises(BadSetting, match=rf"^{NAME} .*\.$"):
        read(NAME, given)


def test_a_secret_is_never_repeated() -> None:
    for read in (values.token, values.key):
        with pytest.raises(BadSetting) as refusal:
            read(NAME, "canary")
        assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    "address",
    ["u:se%canary@127.0.0.1/db", "u:s@canary@127.0.0.1/db", "u:canary/s@127.0.0.1/db", "u:p@127.0.0.1/db?canary=1"],
)
def test_an_address_that_libpq_cannot_read_is_not_repeated(address: str) -> None:
    with pytest.raises(BadSetting, match=rf"^{NAME} is not an address that libpq reads; .* as %XX.*\.$") as refusal:
        values.database(NAME, f"postgresql://{address}")
    assert "canary" not in str(refusal.value) and refusal.value.__context__ is None
