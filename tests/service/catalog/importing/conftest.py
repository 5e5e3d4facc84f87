"""Imported actions that are sent to a fake of their app."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Asked
from tests.service.components.declared.conftest import Desk
from tests.service.components.declared.conftest import desk as desk
from tests.service.components.declared.conftest import interpreter as interpreter
from webapp.service.catalog.importing.actions import Action
from webapp.service.catalog.importing.files import toml, versioned
from webapp.service.components.calls import Call, Reply

Send = Callable[..., Asked]


def written(desk: Desk, action: Action) -> Path:
    """The file of an imported action, in the folder of its app."""
    path = desk.folder / "acme" / "actions" / f"{action.name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(toml(versioned(action.toml, "0.0.1")))
    return path


@pytest.fixture
def declare(desk: Desk) -> Callable[[Action], Reply]:
    """What an imported action declares, as the catalog is built from it."""
    return lambda action: desk.interpreter.call(Call(str(written(desk, action)), method="declare"))


@pytest.fixture
def call(desk: Desk) -> Callable[..., Reply]:
    """Run an imported action with the values of its props."""

    def called(action: Action, files: dict[str, str] | None = None, **props: Any) -> Reply:
        account = {"account": desk.grant}
        reply = desk.interpreter.call(
            Call(str(written(desk, action)), accounts=account, allow_hosts=(desk.host,), props=props, files=files or {})
        )
        assert reply.error is None, reply.error
        return reply

    return called


class Anything(dict[str, Any]):
    """The same answer to whatever the app is asked."""

    def get(self, what: str, default: Any = None) -> Any:
        return {"id": 7}


@pytest.fixture
def send(desk: Desk, call: Callable[..., Reply]) -> Send:
    """Run an imported action; the request that the app got."""

    def sent(action: Action, files: dict[str, str] | None = None, **props: Any) -> Asked:
        desk.provider.answers = Anything()
        call(action, files, **props)
        return desk.last

    return sent
