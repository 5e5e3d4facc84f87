"""The hosts that are proposed to the owner of a piece."""

from collections.abc import Mapping

import pytest

from webapp.service.pieces import metadata, proposed_hosts


def hosts(source: str, *told: Mapping[str, object], slug: str = "acme_tasks") -> tuple[str, ...]:
    return proposed_hosts.proposed([auth for each in told if (auth := metadata.auth(each))], source, slug)


def test_addresses_of_how_people_connect_come_first_and_constants_behind() -> None:
    source = 'x("https://api.acme.io/v1"); y(`https://${z}.acme.io/`)'
    told = {"type": "OAUTH2", "authUrl": "https://{region}.acme.io/a", "tokenUrl": "https://login.acme.io/token"}
    assert hosts(source, told) == ("login.acme.io", "*.acme.io", "api.acme.io")


@pytest.mark.parametrize(
    ("source", "proposed"),
    [
        ("'https://api.acme.io/v1'", ("api.acme.io",)),
        ("`https://${shop}.acme.io/admin`", ("*.acme.io",)),
        ("`https://api.${region}.acme.io`", ("*.acme.io",)),
        ("`https://${host}/v1`", ()),
        ("`https://${name}.io`", ()),
        ('"https://user:pass@api.acme.io:8443/x"', ("api.acme.io",)),
        ('"https://docs.acme.io/x" "https://developers.acme.io"', ()),
        ('"http://localhost:3000" "https://10.0.0.1/" "https://www.w3.org/x" "https://json-schema.org/d"', ()),
        ('"https://cdn.acme.io/logo.png"', ()),
        ('"https://api.openai.com/v1"', ()),
        ("see https://api.acme.io for more", ()),
        ('"https://exa mple.io"', ()),
        ('"http://metadata.google.internal." "https://jira.acme.io/projects"', ()),
    ],
)
def test_constants_are_those_that_an_action_may_call(source: str, proposed: tuple[str, ...]) -> None:
    assert hosts(source) == proposed


def test_what_many_bundles_share_counts_where_it_is_the_pieces_own() -> None:
    assert hosts('"https://api.openai.com/v1" "https://api.x.ai/v1"', slug="openai") == ("api.openai.com",)

    assert hosts('"https://api.mistral.ai/v1" "https://api.x.ai/v1"', slug="mistral_ai") == ("api.mistral.ai",)


def test_what_stands_in_a_sample_alone_is_not_called() -> None:
    source = 'x="https://api.acme.io/v1";y={url:"https://app.acme.io/p/1",of:`https://s3.acme.io/a`}'
    samples = {"https://app.acme.io/p/1", "https://s3.acme.io/a"}
    assert proposed_hosts.proposed((), source, "acme", samples) == ("api.acme.io",)
    assert proposed_hosts.proposed((), f'{source};get("https://app.acme.io/")', "acme", samples) == (
        "api.acme.io",
        "app.acme.io",
    )


def test_the_providers_own_domain_stands_for_what_is_below_it() -> None:
    assert hosts("", {"type": "OAUTH2", "tokenUrl": "https://acme.io/token"}) == ("acme.io", "*.acme.io")
