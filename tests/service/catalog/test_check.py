"""The checker finds each kind of mistake, and nothing in what is right.

Rules for tests that are no request over HTTP: the fields by which they sign in must be there.

The addresses of an app: https, readable, and within the hosts to which its credential may go.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.catalog.samples import KEYS, OAUTH, bare, check
from webapp.service.catalog.check import address_problems, judge
from webapp.service.catalog.sources import Places, read
from webapp.service.catalog.spec import AppSpec

Declare = Callable[[str, str], Path]
SIGN_IN = """
[sign_in]
fields = ["subdomain"]

[[sign_in.credentials]]
place = "bearer"
source = "https://docs.acme.example/auth"

[sign_in.oauth]
authorize_url = "https://{subdomain}.acme.example/authorize"
token_url = "https://{subdomain}.acme.example/token"
sources = ["https://docs.acme.example/auth"]

[sign_in.oauth.client]
console_url = "https://docs.acme.example/"
steps = ["Make a client."]
source = "https://docs.acme.example/auth"
"""
BOTH = KEYS + SIGN_IN
# What is changed in a sound app, and what the checker must then say of it.
MISTAKES = {
    "sign-in beside a sign-in": (OAUTH + SIGN_IN, 'slug = "globex"', 'slug = "globex"', "[sign_in] is another way"),
    "sign-in with a field that is none": (BOTH, 'fields = ["subdomain"]', 'fields = ["region"]', "names region, which"),
    "sign-in without a field that it needs": (BOTH, 'fields = ["subdomain"]', "", "sign_in: base_url uses {subdomain}"),
    "sign-in at plain http": (
        BOTH,
        '"https://{subdomain}.acme.example/token"',
        '"http://a.example/"',
        "sign_in: oauth",
    ),
    "not TOML": (KEYS, 'slug = "acme"', 'slug = "acme', "cannot be read as TOML"),
    "unknown section": (
        KEYS,
        'slug = "acme"',
        'slug = "acme"\nhealth = {url = "/me"}',
        "health: extra inputs are not permitted",
    ),
    "package without a version": (
        KEYS,
        "[test]",
        '[[api.documents]]\npackage = "npm:unknown"\npath = "a.json"\nsource = "https://a.example"\n'
        "read_on = 2026-11-28\n[test]",
        "api.documents: npm:unknown needs its version and integrity",
    ),
    "unknown key": (KEYS, 'slug = "acme"', 'slug = "acme"\ncolour = "red"', "colour: extra inputs are not permitted"),
    "missing key": (KEYS, 'name = "Acme"\n', "", "name: field required"),
    "bad slug": (KEYS, 'slug = "acme"', 'slug = "Ac-me"', "slug: string should match"),
    "folder": (KEYS, 'slug = "acme"', 'slug = "other"', "the folder must have the name of the slug"),
    "own alias": (
        KEYS,
        'slug = "acme"',
        'slug = "acme"\naliases = ["acme"]',
        "the alias acme is a name",
    ),
    "category": (KEYS, '["tools"]', '["nowhere"]', "the category nowhere does not exist"),
    "icon": (KEYS, 'letter = "A"', 'icon = "no-such-icon"', "there is no icon no-such-icon"),
    "two logos": (KEYS, 'letter = "A"', 'letter = "A"\nicon = "github"', "give either a mark, an icon or a letter"),
    "description": (KEYS, "anvils.", "anvils", "ends with a full stop"),
    "docs": (KEYS, 'docs_url = "https://docs.acme.example/"\n', "", "docs_url is missing"),
    "sources": (KEYS, 'sources = ["https://docs.acme.example/"]\n', "", "sources is missing"),
    "source": (KEYS, 'source = "https://docs.acme.example/me"\n', "", "test.source: field required"),
    "plain http": (KEYS, "https://docs.acme.example/auth", "http://docs.acme.example/auth", "must begin with https://"),
    "http docs": (KEYS, 'docs_url = "https:', 'docs_url = "http:', "docs_url must begin with https://"),
    "no address": (KEYS, 'docs_url = "https://docs.acme.example/"', 'docs_url = "https://a b/"', "docs_url: string"),
    "field in base_url": (KEYS, "https://{subdomain}.acme", "https://{region}.acme", "uses {region}"),
    "field in header": (KEYS, "Token {api_key}", "Token {api_kye}", "uses {api_kye}, which is not a field"),
    "field in test": (KEYS, 'url = "/me"', 'url = "/{who}"', "test.url uses {who}"),
    "base_url outside": (KEYS, "https://{subdomain}.acme", "https://{subdomain}.evil", "which allowed_hosts does not"),
    "test outside": (KEYS, 'url = "/me"', 'url = "https://other.example/me"', "test.url is at other.example"),
    "no hosts": (KEYS, 'allowed_hosts = ["{subdomain}.acme.example"]\n', "", "allowed_hosts is missing"),
    "bad host rule": (KEYS, '["{subdomain}.acme.example"]', '["*.com"]', "allowed_hosts: "),
    "secret": (KEYS, "secret = true\n", "", "the field api_key looks like a secret"),
    "secret default": (KEYS, "secret = true\n", 'secret = true\ndefault = "x"\n', "may not have a default"),
    "reserved field": (KEYS, 'name = "subdomain"', 'name = "oauth_uid"', "may not begin with oauth_"),
    "field twice": (KEYS, 'name = "api_key"', 'name = "subdomain"', "the field subdomain is declared twice"),
    "default": (KEYS, 'label = "Subdomain"', 'label = "S"\ndefault = "c"\noptions = ["a"]', "none of its options"),
    "no secret used": (KEYS, "Token {api_key}", "Token {subdomain}", "no credential uses a secret field"),
    "secret in url": (KEYS, "example/api", "example/{api_key}", "base_url holds a secret"),
    "nameless header": (KEYS, 'name = "X-Key"\n', "", "needs the name under which it goes there"),
    "url credential": (KEYS, 'place = "header"', 'place = "url"', "needs a secret field in base_url"),
    "no test": (KEYS, KEYS[KEYS.index("[test]") :], "", "[test] is missing"),
    "empty test": (KEYS, 'url = "/me"', 'url = ""', "test.url is missing"),
    "postgres": (KEYS, 'url = "/me"', 'kind = "postgres"', "needs the fields host, port, database, user, password"),
    "no oauth": (OAUTH, 'auth_type = "oauth"', 'auth_type = "keys"', "exactly when its auth_type is oauth"),
    "auth without": (KEYS, 'auth_type = "keys"', 'auth_type = "none"', "an app without auth has no fields"),
    "profile scope": (OAUTH, '["me", "weather"]', '["me", "tides"]', "names tides, which is not a declared scope"),
    "functional": (OAUTH, '["me", "weather"]', '["weather"]', "leaves out me, which the test request needs"),
    "optional": (OAUTH, "functional = true", "functional = true\noptional = true", "neither optional nor left out"),
    "scope twice": (OAUTH, 'scope = "weather"', 'scope = "me"', "the scope or profile me is declared twice"),
    "iss": (OAUTH, "[oauth]\n", "[oauth]\niss_required = true\n", "oauth.iss_required needs oauth.issuer"),
    "token_url": (OAUTH, "https://globex.example/token", "http://globex.example/token", "oauth.token_url must begin"),
    "no steps": (OAUTH, '["Add {redirect_uri}."]', "[]", "oauth.client.steps: "),
    "variable": (OAUTH, "https://api.globex.example", "${elsewhere}", "${elsewhere} is no variable"),
}
APP = """
slug = "acme"
name = "Acme"
description = "A server."
categories = ["tools"]
auth_type = "keys"
docs_url = "https://docs.acme.example/"
logo = {{ letter = "A", color = "#336699" }}
{fields}

[test]
kind = "{kind}"
source = "https://docs.acme.example/"
"""
NEEDED = {
    "postgres": ["host", "port", "database", "user", "password"],
    "smtp": ["host", "port", "encryption", "user", "password"],
}
# What is changed in a sound app, by what must then be said of its addresses first.
ADDRESS_MISTAKES = {
    "docs_url must begin with https://.": (KEYS, 'docs_url = "https:', 'docs_url = "http:'),
    "oauth.token_url must begin with https://.": (OAUTH, "https://globex.example/token", "http://globex.example/token"),
    "oauth.client.console_url must begin with https://.": (
        OAUTH,
        "https://globex.example/apps",
        "http://globex.example/apps",
    ),
    "docs_url: The address contains a user name or password. Remove everything up to the @.": (
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


@pytest.mark.parametrize(("text", "old", "new", "sentence"), MISTAKES.values(), ids=MISTAKES.keys())
def test_finds(folder: Path, declare: Declare, text: str, old: str, new: str, sentence: str) -> None:
    assert old in text
    slug = "acme" if text is KEYS else "globex"
    declare(slug, text.replace(old, new, 1))
    problems = check(Places(built_in=folder))
    assert any(problem.startswith(f"{slug}/app.toml: ") and sentence in problem for problem in problems), problems


def test_finds_nothing_in_sound_apps(folder: Path, declare: Declare) -> None:
    declare("acme", KEYS)
    declare("globex", OAUTH)
    declare("plain", bare("plain", "Plain"))
    assert check(Places(built_in=folder)) == []


def test_shipped_apps_are_sound() -> None:
    verdict = judge(read(Places()))
    assert verdict.problems == ()
    assert {row.slug for row in verdict.rows} >= {
        *("sandbox", "sandbox_keys", "github", "google_sheets", "slack", "notion", "stripe", "openai"),
        *("postgresql", "http", "schedule"),
    }
    assert all(row.problems == 0 for row in verdict.rows)


def test_rows_tell_of_components_and_problems(folder: Path, declare: Declare) -> None:
    declare("acme", KEYS.replace("anvils.", "anvils"))
    for name in ("actions/launch/1.0.0.py", "actions/launch/1.1.0.py", "triggers/landed/0.1.0.py"):
        file = folder / "acme" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", "utf-8")
    (row,) = judge(read(Places(built_in=folder))).rows
    assert (row.slug, row.name, row.auth_type, row.actions, row.triggers) == ("acme", "Acme", "keys", 1, 1)
    assert (row.categories, row.problems) == (("tools",), 1)


def test_finds_a_misnamed_component(folder: Path, declare: Declare) -> None:
    file = declare("acme", KEYS).parent / "actions" / "Launch It" / "one.py"
    file.parent.mkdir(parents=True)
    file.write_text("", "utf-8")
    (problem,) = check(Places(built_in=folder))
    assert problem.startswith("acme/actions/Launch It/one.py: a component stands at")


def test_own_app_may_not_shadow_a_built_in_one(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    own = tmp_path / "own"
    (own / "acme").mkdir(parents=True)
    (own / "acme" / "app.toml").write_text(KEYS.replace("Rockets", "Fake rockets"), "utf-8")
    verdict = judge(read(Places([own], folder)))
    assert verdict.problems == ("acme/app.toml: there is a built-in app with the slug acme; give yours another.",)
    (kept,) = verdict.sound
    assert kept.spec.description == "Rockets and anvils."


def test_slugs_are_unique_across_own_folders(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "plain").mkdir(parents=True)
        (tmp_path / name / "plain" / "app.toml").write_text(bare("plain", "Plain"), "utf-8")
    (problem,) = check(Places([tmp_path / "one", tmp_path / "two"], folder))
    assert "another app has the slug plain already" in problem


def test_own_app_may_use_loopback_without_tls(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "globex").mkdir(parents=True)
    text = OAUTH.replace("https://globex.example", "http://127.0.0.1:4000")
    text = text.replace("https://api.globex.example", "http://127.0.0.1:4000")
    text = text.replace('["api.globex.example"]', '["127.0.0.1:4000"]')
    (own / "globex" / "app.toml").write_text(text, "utf-8")
    assert check(Places([own], folder)) == []
    assert any("must begin with https://" in problem for problem in check(Places(built_in=own)))


def test_a_category_twice_is_a_problem(folder: Path) -> None:
    file = folder / "categories.toml"
    file.write_text(file.read_text("utf-8").replace('"cafe"', '"tools"'), "utf-8")
    assert check(Places(built_in=folder)) == ["categories.toml: the category tools stands here twice."]


def fields(names: list[str]) -> str:
    return "".join(f'\n[[fields]]\nname = "{name}"\nlabel = "{name}"\nsecret = true\n' for name in names)


@pytest.mark.parametrize("kind", NEEDED)
def test_a_sign_in_needs_its_fields(folder: Path, declare: Callable[[str, str], Path], kind: str) -> None:
    declare("acme", APP.format(kind=kind, fields=fields(NEEDED[kind])))
    assert check(Places(built_in=folder)) == []
    for missing in NEEDED[kind]:
        declare("acme", APP.format(kind=kind, fields=fields([name for name in NEEDED[kind] if name != missing])))
        assert check(Places(built_in=folder)) == [
            f"acme/app.toml: a test of the kind {kind} needs the fields {missing}.",
        ]


def problems(text: str, *, own: bool = False) -> list[str]:
    return list(address_problems(AppSpec.model_validate(tomllib.loads(text)), own=own))


def at(base: str, host: str) -> str:
    """Globex with another ``base_url``, and the host to which its credential may go."""
    return OAUTH.replace("https://api.globex.example", base).replace("api.globex.example", host)


@pytest.mark.parametrize("sentence", ADDRESS_MISTAKES)
def test_each_mistake_has_its_sentence(sentence: str) -> None:
    text, old, new = ADDRESS_MISTAKES[sentence]
    assert problems(text) == []
    assert problems(text.replace(old, new, 1))[0] == sentence


def test_loopback_without_tls_is_for_own_apps_only() -> None:
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
