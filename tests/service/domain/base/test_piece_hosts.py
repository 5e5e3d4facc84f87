"""What an added integration may reach, and what it was refused."""

from dataclasses import replace
from typing import Any

import pytest

from webapp.kit.clock import MINUTE
from webapp.service.components.calls import Call, Reply
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_calls
from webapp.service.domain.projects.projects import Scene

NAME = "@activepieces/piece-shop"


def hosts(service: Service) -> list[str]:
    return [each.host for each in piece_hosts.refused_of(service.store, NAME)]


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: NAME)


def test_the_latest_come_first_and_few_are_kept(service: Service, clock: Any) -> None:
    for number in range(piece_hosts.MAX_KEPT + 5):
        piece_hosts.note(service, "x.json", [f"{number}.example"])
        clock.advance(MINUTE)
    piece_hosts.note(service, "x.json", ["7.example", "7.example"])
    assert hosts(service)[:2] == ["7.example", "24.example"]
    assert len(hosts(service)) == piece_hosts.MAX_KEPT


def test_a_repetition_within_a_minute_and_long_names_write_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece_hosts.note(service, "x.json", ["busy.example"])
    with monkeypatch.context() as patched:
        patched.setattr(service.store, "write", lambda: pytest.fail("it was written again"))
        piece_hosts.note(service, "x.json", ["busy.example", "x" * 300])
        piece_hosts.note(service, "x.json", [])


def test_what_is_not_added_reaches_nothing(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    assert piece_hosts.hosts(service, "x.json") == ()
    monkeypatch.undo()
    assert piece_hosts.hosts(service, "/apps/slack/actions/x/1.0.0.py") == ()
    assert piece_hosts.hosts(service, "/nowhere/x/1.0.0.json") == ()


class Played:
    """An executor that keeps the call, and was refused a host."""

    def call(self, call: Call) -> Reply:
        self.got = call
        return Reply("done", refused_hosts=("cdn.shop.example",))


def test_a_call_knows_its_user_by_a_hash_only_and_what_it_may_reach(service: Service) -> None:
    played, request = (
        Played(),
        Call("x/1.0.0.json", user=component_calls.user_key(Scene("prj", "development"), "alice")),
    )
    seen = replace(service, executor=played)  # type: ignore[arg-type]
    assert piece_hosts.call(seen, request).value == "done"
    piece_hosts.call(seen, replace(request, user=""))
    assert (played.got.user, played.got.hosts) == ("", ())
    assert hosts(service) == ["cdn.shop.example"]
    component_calls.call(seen, request, {}, None)
    assert len(played.got.user) == 64
    assert "alice" not in played.got.user
    component_calls.call(seen, replace(request, path="x/1.0.0.py"), {}, None)
    assert "alice" in played.got.user  # which no other kind of component is told


def test_all_are_forgotten_with_the_integration(service: Service) -> None:
    piece_hosts.note(service, "x.json", ["a.example", "b.example"])
    with service.store.write() as tx:
        piece_hosts.forget(tx, NAME, ["a.example"])
    assert hosts(service) == ["b.example"]
    with service.store.write() as tx:
        piece_hosts.forget(tx, NAME)
    assert hosts(service) == []
