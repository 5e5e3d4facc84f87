"""What every shipped app promises beyond what the checker asks of an operator's own apps."""

import re

import pytest

from tests.manual.documents import ROOT
from webapp.service.catalog.sources import Places, read
from webapp.service.catalog.spec import AppSpec, absolute
from webapp.service.catalog.variables import expand
from webapp.service.outbound.templates import fill_hosts, fill_url, host_rule
from webapp.service.outbound.urls import HostRules, Url, parse_url

VARIABLES = {"sandbox": "http://localhost:8001"}
SOURCES = read(Places()).apps
SPECS = {source.spec.slug: source.spec for source in SOURCES}
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
OAUTH = {slug: spec for slug, spec in SPECS.items() if spec.oauth and slug != "sandbox"}  # that one has its client
SCOPED = {slug: spec for slug, spec in SPECS.items() if spec.scopes}


def filled(spec: AppSpec) -> dict[str, str]:
    """Values such as an account of the app would have."""
    oauth = spec.oauth
    kept = [*oauth.keep, *(oauth.look_up.keep if oauth.look_up else ())] if oauth else []
    values = {field.name: field.default or "acme" for field in spec.fields} | dict.fromkeys(kept, "acme")
    whole = re.match(r"\{([a-z_]+)\}", spec.base_url or "")
    return values | ({whole[1]: "https://acme.example.com"} if whole else {})


@pytest.mark.parametrize("document", [CHANGELOG, README], ids=["CHANGELOG", "README"])
def test_what_is_said_of_its_size_is_so(document: str) -> None:
    sizes = r"More than (\d+) apps (?:over|in) (\d+) categories.*?more than ([\d,]+) actions and (\d+)\s+triggers"
    claim = re.search(sizes, document, re.DOTALL)
    assert claim is not None
    apps, categories, actions, triggers = (int(number.replace(",", "")) for number in claim.groups())
    components = [component for source in SOURCES for component in source.components if component.of is None]
    kinds = [kind for kind, _key in {(component.kind, component.key) for component in components}]
    named = [slug for slug, spec in SPECS.items() if spec.of is None and spec.mcp is None]
    assert categories == len({category for spec in SPECS.values() for category in spec.categories})
    for number, count in ((apps, len(named)), (actions, kinds.count("action")), (triggers, kinds.count("trigger"))):
        assert number < count < 1.2 * number


def test_what_is_said_of_hosted_servers_is_so() -> None:
    claim = re.search(r"(\d+) MCP servers that providers\s+host, (\d+) of them", README)
    assert claim is not None
    ways = [spec.mcp.way for spec in SPECS.values() if spec.mcp]
    assert (int(claim[1]), int(claim[2])) == (len(ways), len([way for way in ways if way != "client"]))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_the_test_request_reaches_an_allowed_host(spec: AppSpec) -> None:
    for request in (spec.test, spec.identity):
        if request is None or not request.url:
            continue
        address = expand(absolute(spec.base_url, request.url), VARIABLES)
        url = parse_url(fill_url(address, filled(spec)))
        rules = [host_rule(expand(rule, VARIABLES)) for rule in spec.allowed_hosts]
        assert isinstance(url, Url)
        assert HostRules.of(*fill_hosts(rules, filled(spec))).admit(url)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_a_field_that_is_a_part_of_a_host_is_taken_from_a_whole_address(spec: AppSpec) -> None:
    for field in spec.fields:
        host = re.search(rf"://{{{field.name}}}(\.[a-z0-9.-]+)", spec.base_url or "")
        if host and not field.options:
            assert field.pattern
            if re.fullmatch(field.pattern, "acme"):  # one that is no region or data center
                match = re.fullmatch(field.pattern, f"https://acme{host[1]}/home", re.IGNORECASE)
                assert match and match[1] == "acme"


@pytest.mark.parametrize("spec", OAUTH.values(), ids=OAUTH.keys())
def test_a_client_can_be_made_by_its_steps(spec: AppSpec) -> None:
    assert spec.oauth is not None
    assert any("{redirect_uri}" in step for step in spec.oauth.client.steps)
    assert "`" not in "".join(spec.oauth.client.steps)  # pages show **…** alone


def test_steps_say_when_they_were_read_but_for_consoles_that_are_not_described() -> None:
    undated = {slug for slug, spec in OAUTH.items() if spec.oauth and not spec.oauth.client.read_on}
    new = {"digital_ocean", "figma", "harvest", "miro", "monday", "netlify", "pagerduty", "smartsheet", "wrike"}
    assert undated == {"discord", "dropbox", "hubspot", "todoist", *(f"{slug}_oauth" for slug in new)}


@pytest.mark.parametrize("spec", OAUTH.values(), ids=OAUTH.keys())
def test_a_family_shares_its_endpoints_and_its_provider(spec: AppSpec) -> None:
    assert spec.oauth is not None
    assert spec.oauth.client.console
    for other in OAUTH.values():
        if other.oauth and other.oauth.family and other.oauth.family == spec.oauth.family:
            same = ("authorize_url", "token_url", "issuer", "token_auth_method", "revokes")
            assert [getattr(other.oauth, name) for name in same] == [getattr(spec.oauth, name) for name in same]
            assert other.oauth.client.provider == spec.oauth.client.provider != ""


def test_the_shapes_of_ids_and_secrets_fit_real_ones() -> None:
    guid = "6731de76-14a6-49ae-97bc-6eba6914391e"
    samples = {
        "gmail": ("481516234200-k3v9acme.apps.googleusercontent.com", "481516234200-k3v9acme", "", ""),
        "microsoft_outlook": (guid, guid[:8], "q4Q8Q~aB3d_x.Y-z", guid),
    }
    for slug, (client_id, half, secret, secrets_id) in samples.items():
        note = OAUTH[slug].oauth.client  # type: ignore[union-attr]
        assert note.id_shape and re.fullmatch(note.id_shape.pattern, client_id)
        assert not re.fullmatch(note.id_shape.pattern, half)
        if note.secret_shape:
            assert re.fullmatch(note.secret_shape.pattern, secret)
            assert not re.fullmatch(note.secret_shape.pattern, secrets_id)


@pytest.mark.parametrize("spec", SCOPED.values(), ids=SCOPED.keys())
def test_scopes_can_be_chosen_in_plain_words(spec: AppSpec) -> None:
    assert "full" in [profile.name for profile in spec.scope_profiles]
    assert any(scope.default for scope in spec.scopes)
    for scope in spec.scopes:
        # They end the sentence "This app may …", so they begin with a verb and have no full stop.
        assert re.fullmatch(r"[A-Z].*[^.]", scope.words)
        assert scope.words != scope.scope


def test_the_catalog_has_shelves() -> None:
    assert len({slug for spec in SPECS.values() for slug in spec.categories}) >= 10
