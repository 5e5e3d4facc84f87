"""Looking up packages: what the registry tells, whether it has a search or not."""

import json
from pathlib import Path

import pytest

from tests.fakes.npm_registry import NpmRegistry, package
from webapp.errors import NotFound, UpstreamFailed
from webapp.service.pieces import npm
from webapp.service.pieces.packages import Wanted
from webapp.service.pieces.registry import Registry

NAME = "@activepieces/piece-trello"


@pytest.fixture
def ask(served: NpmRegistry, tmp_path: Path) -> Registry:
    for version in ("0.4.1", "0.4.2"):
        served.publish(package(NAME, version, description="Boards", author={"name": "Acme"}))
    return Registry(tmp_path, served.url)


@pytest.mark.peer
def test_a_release_is_reported_with_its_facts(ask: Registry) -> None:
    release = ask.look_up(Wanted(NAME))
    assert (release.version, release.newest, release.description) == ("0.4.2", "0.4.2", "Boards")
    assert (release.licence, release.author, release.size) == ("MIT", "Acme", 2048)
    assert release.published_at == 1787654552953
    assert list(ask.folder.iterdir()) == []


@pytest.mark.parametrize("version", ["../../../elsewhere", "..", "1.0.0/x", "--registry=http://evil.example", ""])
def test_a_number_that_could_be_a_place_or_a_flag_is_none(
    ask: Registry, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    told = json.dumps({"name": NAME, "version": version, "dist-tags": {"latest": version}})
    monkeypatch.setattr(npm, "call", lambda *_, **__: npm.Answer(0, told, ""))
    with pytest.raises(UpstreamFailed, match="what nobody can read"):
        ask.look_up(Wanted(NAME))
    newest = json.dumps({"name": NAME, "version": "1.0.0", "dist-tags": {"latest": version}})
    monkeypatch.setattr(npm, "call", lambda *_, **__: npm.Answer(0, newest, ""))
    assert ask.look_up(Wanted(NAME)).newest == "1.0.0"


def test_an_answer_without_an_end_is_none(ask: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "call", lambda *_, **__: npm.Answer(0, "[" * 200_000, ""))
    with pytest.raises(UpstreamFailed, match="what nobody can read"):
        ask.look_up(Wanted(NAME))


@pytest.mark.peer
def test_what_is_not_there_is_not_found(ask: Registry) -> None:
    with pytest.raises(NotFound, match=r"The registry has no @activepieces/piece-trello 9\.0\.0\."):
        ask.look_up(Wanted(NAME, "9.0.0"))


@pytest.mark.peer
def test_without_a_search_the_names_themselves_are_tried(ask: Registry, served: NpmRegistry) -> None:
    results = ask.search("Trello")
    assert ([each.package for each in results.releases], results.exact) == ([NAME], True)


@pytest.mark.peer
def test_a_search_gives_pieces_only(ask: Registry, served: NpmRegistry) -> None:
    served.searches = True
    served.publish(package("left-pad"))
    results = ask.search("boards")
    assert ([each.package for each in results.releases], results.exact) == ([NAME], False)
    assert ask.search("  ").releases == ()


def test_a_registry_that_cannot_be_asked_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "command", lambda: ["npm"])
    monkeypatch.setattr(npm, "call", lambda *_, **__: npm.Answer(1, "", "npm error network timeout"))
    with pytest.raises(UpstreamFailed, match=r"network timeout\. Check the connection"):
        Registry(tmp_path).look_up(Wanted(NAME))
    monkeypatch.setattr(npm, "command", lambda: None)
    with pytest.raises(UpstreamFailed, match="Node"):
        Registry(tmp_path).look_up(Wanted(NAME))
