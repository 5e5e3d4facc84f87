"""A lazy rule builds what an eager one builds, and compiles nothing before."""

from typing import Any

import pytest
from werkzeug.routing import Map, Rule

from webapp.kit.routing import LazyRule

PATHS = ("/", "/apps/<slug>", "/h/<path:rest>", "/runs/<int:rule>/log", "/<any(a, b):self>/x")


def addresses(rule: type[Rule]) -> list[str]:
    """What a map of ``rule`` builds, in a domain and with values that stand in no path."""
    routes = Map([rule(path, endpoint=path) for path in PATHS]).bind("example.com", script_name="/under")
    values: list[dict[str, Any]] = [{}, {"slug": "a b/ü"}, {"rest": "a/b"}, {"rule": 7}, {"self": "b"}]
    built = [routes.build(path, value) for path, value in zip(PATHS, values, strict=True)]
    return [*built, routes.build(PATHS[1], {"slug": "x", "q": "é&", "page": 2}, force_external=True)]


def test_a_lazy_rule_builds_the_addresses_of_an_eager_one() -> None:
    assert addresses(LazyRule) == addresses(Rule)


def test_nothing_is_compiled_until_an_address_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[tuple[str, bool]] = []
    compile_builder = Rule._compile_builder

    def noted(rule: Rule, append_unknown: bool = True) -> Any:
        compiled.append((rule.rule, append_unknown))
        return compile_builder(rule, append_unknown)

    monkeypatch.setattr(Rule, "_compile_builder", noted)
    routes = Map([LazyRule(path, endpoint=path) for path in PATHS]).bind("example.com")
    assert routes.match("/apps/rss") == (PATHS[1], {"slug": "rss"})
    assert compiled == []
    for _ in range(2):
        assert routes.build(PATHS[1], {"slug": "rss"}) == "/apps/rss"
    assert compiled == [(PATHS[1], True)]
