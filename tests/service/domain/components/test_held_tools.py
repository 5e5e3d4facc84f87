"""What waits for an owner's look is remembered once, and only what was held back."""

from types import SimpleNamespace
from typing import Any

import pytest

from webapp.kit.clock import FakeClock
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import held_tools


def component(key: str, app: str | None = "notes") -> Any:
    return SimpleNamespace(key=key, app=app)


def failed(name: str) -> Reply:
    return Reply(None, error=ErrorInfo("exception", name, "No."))


def test_an_action_that_was_held_back_waits_since_it_was_noticed_first(service: Service, clock: FakeClock) -> None:
    for key in ("notes-search", "notes-erase", "notes-search"):
        held_tools.note(service, component(key), failed("HeldBackError"))
        clock.advance(1_000)
    waiting = held_tools.waiting(service.store, "notes")
    assert [each.component_key for each in waiting] == ["notes-search", "notes-erase"]
    assert waiting[1].at - waiting[0].at == 1_000
    assert held_tools.waiting(service.store, "other") == []
    with service.store.write() as tx:
        held_tools.forget(tx, "notes")
    assert held_tools.waiting(service.store, "notes") == []


def test_one_that_goes_on_with_a_changed_tool_is_noted(service: Service) -> None:
    assert not held_tools.is_noted(service.store, "notes-search")
    held_tools.note(service, component("notes-search"), Reply("done", tool_changed=True))
    assert held_tools.is_noted(service.store, "notes-search")


@pytest.mark.parametrize(
    ("app", "reply"), [("notes", Reply("done")), ("notes", failed("HttpError")), (None, failed("HeldBackError"))]
)
def test_nothing_else_waits(service: Service, app: str | None, reply: Reply) -> None:
    held_tools.note(service, component("notes-search", app), reply)
    assert held_tools.waiting(service.store, "notes") == []
