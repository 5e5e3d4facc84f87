"""A lazy rule builds what an eager one builds, and compiles nothing before."""

from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import BuildError, Map, Rule

from webapp.kit.routing import AddressBook, LazyRule

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


ASKED_FOR: list[dict[str, Any]] = [
    {"slug": "a b/ü"}, {"slug": "a", "page": 1}, {"slug": "a", "page": True}, {"slug": "a", "page": "1"},
    {"slug": "a", "page": 1.0}, {"slug": "a", "page": None}, {"slug": "a", "tags": ["x", "y"]},
    {"slug": "a", "_anchor": "end"}, {"slug": "a", "_external": True}, {"slug": "a", "_method": "POST"},
]  # fmt: skip


def app_of(kind: type[Flask]) -> Flask:
    app = kind("addresses")
    app.add_url_rule("/apps/<slug>", "show", methods=["GET"])
    app.add_url_rule("/saved/<slug>", "show", methods=["POST"])
    return app


@pytest.mark.parametrize("values", ASKED_FOR, ids=str)
def test_an_address_book_builds_what_flask_builds(values: dict[str, Any]) -> None:
    plain, book = app_of(Flask), app_of(AddressBook)
    for path, method in [("/", "GET"), ("/", "POST"), ("http://other.example/under/", "GET")] * 2:
        built = []
        for app in (plain, book):
            with app.test_request_context(path, method=method, environ_overrides={"SCRIPT_NAME": path[20:-1]}):
                built.append(app.url_for("show", **values))
        assert built[0] == built[1]


def test_an_address_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    app, endpoints, build = app_of(AddressBook), [], Flask.url_for

    def noted(self: Flask, endpoint: str, **values: Any) -> str:
        endpoints.append(endpoint)
        return build(self, endpoint, **values)

    monkeypatch.setattr(Flask, "url_for", noted)
    for _ in range(2):
        with app.test_request_context():
            assert app.url_for("show", slug="a") == "/apps/a"
            with pytest.raises(BuildError):
                app.url_for("nowhere")
    assert endpoints == ["show", "nowhere", "nowhere"]
