"""A piece reaches the hosts of its rules on the usual ports, and of these what is public or was opened."""

import socket
from ipaddress import ip_address

import pytest

from tests.fakes import ssrf
from webapp.kit.clock import Deadline
from webapp.service.components.pieces import connecting
from webapp.service.outbound import guard
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_url

RULES = ("api.acme.example", "*.acme.example", "db.example:5433", "[2606:4700::1]", "Odd.example")


@pytest.mark.parametrize(
    ("host", "port", "admitted"),
    [
        ("api.acme.example", 443, True),
        ("API.acme.EXAMPLE.", 80, True),
        ("a.b.acme.example", 443, True),
        ("acme.example", 443, False),
        ("evilacme.example", 443, False),
        ("api.acme.example.evil.test", 443, False),
        ("db.example", 5433, True),
        ("db.example", 443, False),
        ("2606:4700::1", 443, True),
        ("odd.example", 443, True),
        ("127.0.0.1", 443, False),
        ("a b", 443, False),
        ("", 443, False),
    ],
)
def test_rules_admit_hosts(host: str, port: int, admitted: bool) -> None:
    assert (connecting.refusal(RULES, host, port) is None) == admitted


def test_a_refusal_names_the_host_and_whom_to_ask() -> None:
    refused = connecting.refusal(RULES, "files.example", 443)
    assert refused is not None and refused.sentence.startswith("files.example is not among the hosts")


def hosts_of(vectors: list[str]) -> set[tuple[str, int]]:
    """The host and the port of each address: as our client reads them, and just as they are written."""
    urls = [parse_url(vector.format(port=8080)) for vector in vectors]
    written = [vector.split("//")[1].split("/")[0].rsplit(":{", 1)[0] for vector in vectors if "//" in vector]
    read = {(url.host, url.port) for url in urls if not isinstance(url, Failure)}
    return read | {(host.strip("[]"), 8080) for host in written}


def test_no_hostile_address_is_connected_to_though_a_rule_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.Guard.__init__, "__kwdefaults__", {"resolver": ssrf.answers})
    ssrf.connects.clear()
    targets = hosts_of(ssrf.VECTORS)
    assert len(targets) > 60
    outcomes = {target: connecting.connected((), *target, Deadline(1)) for target in targets}
    reached = {target for target, outcome in outcomes.items() if not isinstance(outcome, Failure)}
    assert (reached, ssrf.connects) == (set(), [])


def test_a_name_that_changes_its_address_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    dialled: list[object] = []
    monkeypatch.setattr(
        guard.Guard.__init__,
        "__kwdefaults__",
        {"resolver": lambda host, timeout_s: [ip_address(next(answers)[0])]},
    )

    def connect(addresses: tuple[object, ...], port: int, limits: object) -> socket.socket:
        dialled.extend(map(str, addresses))
        raise ConnectionRefusedError

    monkeypatch.setattr(connecting, "connect", connect)
    outcome = connecting.connected((), "rebind.test", 443, Deadline(1))
    assert isinstance(outcome, Failure) and outcome.kind == "connect"
    assert dialled == ["93.184.215.14"]


def test_what_the_operator_opened_is_reached_and_no_other_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = connecting.connected((f"127.0.0.1:{port}",), "127.0.0.1", port, Deadline(2))
        assert type(outcome) is socket.socket  # nothing that waits by itself
        outcome.close()
    refused = connecting.connected((), "127.0.0.1", port, Deadline(2))
    closed = connecting.connected((f"127.0.0.1:{port}",), "127.0.0.1", port, Deadline(2))
    assert isinstance(refused, Failure) and isinstance(closed, Failure)
    assert (refused.kind, closed.kind) == ("refused_by_guard", "connect")
    other = connecting.connected((), "93.184.215.14", 79, Deadline(2))
    assert isinstance(other, Failure) and other.kind == "refused_by_guard"
