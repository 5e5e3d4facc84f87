import pytest

from webapp.service.outbound.templates import TemplateError, fields_in, fill, fill_hosts, fill_url, host_rule

ZENDESK = "https://{subdomain}.example.com/api/{version}?q={term}"


def test_values_go_where_they_belong() -> None:
    fields = {"subdomain": " Acme ", "version": "v 2/x", "term": "a&b=c#d"}
    assert fill_url(ZENDESK, fields) == "https://acme.example.com/api/v%202%2Fx?q=a%26b%3Dc%23d"
    assert fill("Token token={api_key}", {"api_key": " k "}) == "Token token=k"
    assert fields_in(ZENDESK + "{term}") == ("subdomain", "version", "term")


@pytest.mark.parametrize(
    "value",
    [
        "evil.com/",
        "evil.com#",
        "evil.com?",
        "a@b",
        "a:b",
        "..",
        ".",
        "a.b",
        "a/b",
        "a\\b",
        "-a",
        "a-",
        "a b",
        "%2e",
        "é",
        "",
        "  ",
        "a\r\nb",
        "{subdomain}",
        "https://acme.example.com",
        "a" * 64,
        "[::1]",
        "a\x00",
        "a_b",
    ],
)
def test_a_label_stays_one_label(value: str) -> None:
    with pytest.raises(TemplateError, match=r"\.$"):
        fill_url("https://{subdomain}.example.com/api", {"subdomain": value})
    with pytest.raises(TemplateError):
        fill_hosts(["{subdomain}.example.com"], {"subdomain": value})


def test_several_labels_stay_within_the_host() -> None:
    template = "https://{domain*}.example.com/api"
    assert fill_url(template, {"domain": "Acme--UAT.sandbox.my"}) == "https://acme--uat.sandbox.my.example.com/api"
    assert fields_in(template) == ("domain",)
    for value in ("a..b", ".a", "a.", "a.b/", "evil.com#", "a.-b", "a.b:1", "a@b.c"):
        with pytest.raises(TemplateError, match="only the first part of the address"):
            fill_url(template, {"domain": value})


@pytest.mark.parametrize("value", ["a/b", "a@b", "a:1", "a?b", "a#b", "a\\b", "https://a", "a b", "", "1.2.3", "a..b"])
def test_a_whole_host_stays_one_host(value: str) -> None:
    with pytest.raises(TemplateError):
        fill_url("https://{host}:{port}/x", {"host": value, "port": "80"})


@pytest.mark.parametrize("port", ["", "0", "65536", "80/", "80@evil.test", "-1", "x"])
def test_a_port_stays_a_port(port: str) -> None:
    with pytest.raises(TemplateError):
        fill_url("https://{host}:{port}/x", {"host": "a.test", "port": port})


@pytest.mark.parametrize("value", [".", ".."])
def test_a_path_field_cannot_climb(value: str) -> None:
    with pytest.raises(TemplateError):
        fill_url("https://a.test/users/{id}/x", {"id": value})
    assert fill_url("https://a.test/users/{id}", {"id": "../x"}) == "https://a.test/users/..%2Fx"


def test_hosts_and_whole_addresses() -> None:
    assert fill_url("https://{host}:{port}/x", {"host": "A.test", "port": "8443"}) == "https://a.test:8443/x"
    assert fill_url("https://{host}/", {"host": "[::1]"}) == "https://[::1]/"
    assert fill_url("{base}/v1/{id}", {"base": "https://a.test/x/", "id": "1"}) == "https://a.test/x/v1/1"
    assert fill_hosts(["{base}", "api.test"], {"base": "https://a.test:8443/x"}) == ("a.test:8443", "api.test")
    assert fill_hosts(["{host}"], {"host": "a.test"}) == ("a.test",)


@pytest.mark.parametrize(
    "base", ["a.test", "ftp://a.test", "https://u@a.test", "https://a.test?x=", "https://a.test#", ""]
)
def test_a_whole_address_is_read_strictly(base: str) -> None:
    with pytest.raises(TemplateError):
        fill_url("{base}/v1", {"base": base})


def test_a_header_value_has_no_line_break() -> None:
    with pytest.raises(TemplateError):
        fill("Token {k}", {"k": "a\r\nX: 1"})
    with pytest.raises(TemplateError, match="Api key is missing"):
        fill("Token {api_key}", {})


def test_a_whole_address_becomes_a_host_rule() -> None:
    assert host_rule("*.example.com") == "*.example.com"
    assert host_rule("https://a.example/v1") == "a.example:443"
    assert host_rule("http://[::1]:8001") == "[::1]:8001"
    with pytest.raises(TemplateError):
        host_rule("ftp://a.example")
