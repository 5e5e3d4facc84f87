"""Declared components written on the spot, and a fake of their app that answers what a test says."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Answer, Asked, Provider, serving
from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.outbound.placements import Placement

TOKEN = "canary-t0ken-of-the-account"
HEAD = """
name = "Add note"
version = "1.0.0"
description = "Adds a note."
hints = "creates"
summary = "Added {$answer.id}"
"""
ACCOUNT = """
[props.tiny]
type = "app"
app = "tiny"
"""


@dataclass
class Desk:
    """Calls declared components of the app ``tiny``, whose API is the fake."""

    provider: Provider
    host: str
    folder: Path
    interpreter: Interpreter

    def on(self, what: str, answer: Answer) -> None:
        """Let the fake answer ``what``, such as ``GET /notes``."""
        self.provider.answers[what] = answer

    @property
    def last(self) -> Asked:
        """The last request that the fake got."""
        return self.provider.asked[-1]

    @property
    def grant(self) -> AccountGrant:
        """An account of the app."""
        placements = (Placement("bearer", value="{token}"),)
        values = {"token": TOKEN, "team": "red"}
        base = f"http://{self.host}/api"
        return AccountGrant(values, base, {}, placements, (self.host,), ("token",))

    def write(self, text: str, name: str = "add-note", head: str = HEAD) -> Path:
        """Write an action; its account and what it says first are there already."""
        path = self.folder / "tiny" / "actions" / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + ACCOUNT + text, "utf-8")
        return path

    def share(self, text: str) -> None:
        """Write what the actions of the app share."""
        (self.folder / "tiny").mkdir(exist_ok=True)
        (self.folder / "tiny" / "shared.toml").write_text(text, "utf-8")

    def call(self, text: str, head: str = HEAD, **fields: Any) -> Reply:
        """Write an action and call it."""
        call = Call(str(self.write(text, head=head)), accounts={"tiny": self.grant}, allow_hosts=(self.host,), **fields)
        return self.interpreter.call(call)

    def run(self, text: str, **props: Any) -> Any:
        """Write an action and run it; what it returns. It must succeed."""
        reply = self.call(text, props=props)
        assert reply.error is None, reply.error
        return reply.value

    def refuses(self, text: str, **props: Any) -> str:
        """Write an action and run it; it must fail with one sentence."""
        reply = self.call(text, props=props)
        assert reply.error is not None, reply.value
        assert reply.error.name in ("ComponentError", "HttpError"), reply.error
        return reply.error.message

    def options(self, text: str, prop: str, **fields: Any) -> dict[str, Any]:
        """Write an action and look up the options of ``prop``: labels with their values, and the context."""
        reply = self.call(text, method="options", prop=prop, **fields)
        assert reply.error is None, reply.error
        texts = reply.value["string_options"]
        offers = texts if texts is not None else {each["label"]: each["value"] for each in reply.value["options"]}
        return {"offers": offers, "context": reply.value["context"]}


@pytest.fixture(scope="session")
def interpreter() -> Interpreter:
    return Interpreter()


@pytest.fixture
def desk(tmp_path: Path, interpreter: Interpreter) -> Iterator[Desk]:
    provider = Provider("/api", {"Authorization": f"Bearer {TOKEN}"}, {})
    with serving(provider) as host:
        yield Desk(provider, host, tmp_path, interpreter)
