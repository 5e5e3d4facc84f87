"""Looking up packages: what the registry tells, whether it has a search or not."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.fakes.npm_registry import NpmRegistry, package
from webapp.errors import NotFound, UpstreamFailed
from webapp.service.pieces import npm, registry
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


def answering(
    monkeypatch: pytest.MonkeyPatch, told: npm.Answer, took_s: float = 3.0
) -> tuple[list[float], Callable[[float], None]]:
    """npm answers each call with ``told`` after ``took_s``. Its deadlines, and what lets time pass."""
    now, deadlines = [1_000.0], list[float]()

    def passes(seconds: float) -> None:
        now[0] += seconds

    def call(*_: object, deadline_s: float, **__: object) -> npm.Answer:
        deadlines.append(deadline_s)
        passes(took_s)
        return told

    monkeypatch.setattr(registry, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(npm, "command", lambda: ["npm"])
    monkeypatch.setattr(npm, "call", call)
    return deadlines, passes


def test_a_search_has_one_deadline_for_all_that_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = npm.Answer(1, json.dumps({"error": {"code": "E404"}}), "")
    deadlines, _ = answering(monkeypatch, missing)
    assert Registry(tmp_path).search("big river").releases == ()
    assert deadlines == [registry.SEARCH_S, registry.SEARCH_S - 3, registry.SEARCH_S - 6]


def test_a_registry_that_did_not_answer_is_left_in_peace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines, passes = answering(monkeypatch, npm.Answer(-9, "", "", "it did not end in time"))
    for text in ("sho", "shop"):
        with pytest.raises(UpstreamFailed, match="it did not end in time"):
            Registry(tmp_path).search(text)
    assert len(deadlines) == 1
    for each in (Registry(tmp_path, "https://npm.acme.example"), Registry(tmp_path)):
        with pytest.raises(UpstreamFailed):
            each.search("shop")
        passes(registry.QUIET_S)
    assert len(deadlines) == 3


def test_only_few_searches_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines, _ = answering(monkeypatch, npm.Answer(0, "[]", ""))
    monkeypatch.setattr(registry, "WAIT_S", 0.01)
    for _ in range(registry.SEARCHES):
        registry._SEARCHES._free.acquire()
    try:
        with pytest.raises(UpstreamFailed, match="Others search"):
            Registry(tmp_path).search("shop")
    finally:
        registry._SEARCHES._free.release(registry.SEARCHES)
    assert deadlines == []


def test_a_search_that_waited_long_for_others_blames_no_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadlines, passes = answering(monkeypatch, npm.Answer(-9, "", "", "it did not end in time"))
    places = registry._SEARCHES._free

    def late(timeout: float) -> bool:
        passes(registry.SEARCH_S - 0.1)
        return places.acquire(timeout=timeout)

    with monkeypatch.context() as busy, pytest.raises(UpstreamFailed, match="Others search"):
        busy.setattr(registry._SEARCHES, "_free", SimpleNamespace(acquire=late, release=places.release))
        Registry(tmp_path).search("shop")
    assert deadlines == []
    with pytest.raises(UpstreamFailed, match="it did not end in time"):
        Registry(tmp_path).search("shop")
    assert deadlines == [registry.SEARCH_S]
