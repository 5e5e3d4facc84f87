"""Which texts are an origin, in the form that a browser sends."""

import pytest

from webapp.kit.origins import checked_origin, exact_origin


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://a.example", "https://a.example"),
        ("HTTPS://A.Example/", "https://a.example"),
        ("https://a.example:443", "https://a.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://my_shop.example", "https://my_shop.example"),
        ("https://a.example;script-src", None),
        ("https://a.example,b.example", None),
        ("https://a.example'", None),
        ("https://a.example\\.evil.example", None),
        ("https://a%2eexample", None),
        ('https://"a"', None),
        ("https://[::1%25eth0]", None),
        ("*", None),
        ("https://*.example", None),
        ("https://a.example/path", None),
        ("https://a.example?x", None),
        ("https://u@a.example", None),
        ("https://u:p@a.example", None),
        ("null", None),
        ("", None),
        ("javascript:alert(1)", None),
        ("https://", None),
        ("https://a.example:99999", None),
        ("https://a b.example", None),
        ("https://a.example\n", None),
        ("https://[::1", None),
    ],
)
def test_exact_origins(text: str, origin: str | None) -> None:
    assert exact_origin(text) == origin
    if origin is not None:
        assert checked_origin(text) == origin
        return
    with pytest.raises(ValueError, match="is not an origin such as"):
        checked_origin(text)
