"""The checker finds each kind of mistake, and nothing in what is right."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.catalog.facts.samples import KEYS, OAUTH, bare, check
from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import Places, read

Declare = Callable[[str, str], Path]

# What is changed in a sound app, and what the checker must then say of it.
MISTAKES = {
    "not TOML": (KEYS, 'slug = "acme"', 'slug = "acme', "cannot be read as TOML"),
    "unknown section": (
        KEYS,
        'slug = "acme"',
        'slug = "acme"\nhealth = {url = "/me"}',
        "health: extra inputs are not permitted",
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
    "two logos": (KEYS, 'letter = "A"', 'letter = "A"\nicon = "github"', "give either an icon or a letter"),
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
