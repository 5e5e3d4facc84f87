"""The addresses of an app: https, readable, and within the hosts to which its credential may go."""

import tomllib

import pytest

from tests.service.catalog.facts.samples import KEYS, OAUTH
from webapp.service.catalog.addresses import address_problems
from webapp.service.catalog.spec import AppSpec

# What is changed in a sound app, by what must then be said of its addresses first.
MISTAKES = {
    "docs_url must begin with https://.": (KEYS, 'docs_url = "https:', 'docs_url = "http:'),
    "oauth.token_url must begin with https://.": (OAUTH, "https://globex.example/token", "http://globex.example/token"),
    "oauth.client.console_url must begin with https://.": (
        OAUTH,
        "https://globex.example/apps",
        "http://globex.example/apps",
    ),
    "docs_url: The address holds a user name or password. Remove everything up to the @.": (
        KEYS,
        'docs_url = "https://',
        'docs_url = "https://ada@',
    ),
    "base_url is at sample.evil.example, which allowed_hosts does not name.": (
        OAUTH,
        'base_url = "https://api.globex',
        'base_url = "https://{shop}.evil',
    ),
    "test.url is at other.example, which allowed_hosts does not name.": (
        KEYS,
        'url = "/me"',
        'url = "https://other.example/me"',
    ),
    "allowed_hosts is missing: name the hosts to which the credential may go.": (
        KEYS,
        'allowed_hosts = ["{subdomain}.acme.example"]\n',
        "",
    ),
    "allowed_hosts: '*.com' would admit a whole top-level domain. Name a domain below it.": (
        KEYS,
        '["{subdomain}.acme.example"]',
        '["*.com"]',
    ),
    "${elsewhere} is no variable; there is ${sandbox}.": (OAUTH, "https://api.globex.example", "${elsewhere}"),
}


def problems(text: str, *, own: bool = False) -> list[str]:
    return list(address_problems(AppSpec.model_validate(tomllib.loads(text)), own=own))


def at(base: str, host: str) -> str:
    """Globex with another ``base_url``, and the host to which its credential may go."""
    return OAUTH.replace("https://api.globex.example", base).replace("api.globex.example", host)


@pytest.mark.parametrize("sentence", MISTAKES)
def test_each_mistake_has_its_sentence(sentence: str) -> None:
    text, old, new = MISTAKES[sentence]
    assert problems(text) == []
    assert problems(text.replace(old, new, 1))[0] == sentence


def test_loopback_without_tls_is_for_own_apps_alone() -> None:
    local = at("http://127.0.0.1:4000", "127.0.0.1:4000")
    assert problems(local, own=True) == []
    assert problems(local) == ["base_url must begin with https://.", "test.url must begin with https://."]
    assert problems(at("http://far.example", "far.example"), own=True)[0] == "base_url must begin with https://."


@pytest.mark.parametrize(
    ("base", "host"),
    [
        ("{instance_url}", "*.globex.example"),
        ("https://{host}:{port}/v1", "{host}:{port}"),
        ("https://api.{zone}.globex.example", "*.globex.example"),
        ("${sandbox}/api", "${sandbox}"),
    ],
)
def test_a_template_is_judged_as_if_it_were_filled(base: str, host: str) -> None:
    assert problems(at(base, host)) == []
