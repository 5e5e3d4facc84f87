"""Connections for drivers: guarded, to the server of the call's own account, for components that declare it."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.kit.clock import Deadline
from webapp.service.components.brokering.connections import connected
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.outbound.outcomes import Failure


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def component(tmp_path: Path) -> Path:
    path = tmp_path / "1.0.0.py"
    path.write_text("class A:\n    reads_secrets = True\n")
    return path


def call(component: Path, server: socket.socket, *allowed: str) -> Call:
    grant = AccountGrant({"host": "127.0.0.1", "port": str(server.getsockname()[1])})
    return Call(str(component), accounts={"a": grant}, allow_hosts=allowed)


def test_the_accounts_own_server_is_reached(component: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    outcome = connected(call(component, server, f"127.0.0.1:{port}"), "127.0.0.1", port, Deadline(2))
    assert isinstance(outcome, socket.socket) and outcome.gettimeout() is None
    outcome.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "example.com", "127.1"])
def test_nobody_else_is(component: Path, server: socket.socket, host: str) -> None:
    port = server.getsockname()[1]
    outcome = connected(call(component, server), host, port, Deadline(2))
    assert isinstance(outcome, Failure) and outcome.kind == "refused_by_guard"


def test_only_a_component_that_declares_it_gets_one(component: Path, server: socket.socket) -> None:
    component.write_text("class A:\n    pass\n")
    port = server.getsockname()[1]
    outcome = connected(call(component, server, f"127.0.0.1:{port}"), "127.0.0.1", port, Deadline(2))
    assert isinstance(outcome, Failure) and "reads_secrets = True" in outcome.sentence


def test_a_server_that_does_not_answer_is_a_sentence(component: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    asked = call(component, server, f"127.0.0.1:{port}")
    server.close()
    outcome = connected(asked, "127.0.0.1", port, Deadline(2))
    assert outcome == Failure("connect", "127.0.0.1 accepts no connection. Check the address, or try again later.")
