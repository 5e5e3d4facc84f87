"""Addresses that code of a component may ask the broker for to get at what is not public: none is connected to."""

import re
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.service.components.test_broker import served
from webapp.kit.clock import Deadline
from webapp.service.components.broker import Broker, connected
from webapp.service.components.brokered_http import BrokeredHttp, BrokerLine
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.errors import HttpError
from webapp.service.components.pieces import channels
from webapp.service.outbound import transport
from webapp.service.outbound.failures import Failure

PUBLIC, OTHER_PUBLIC = "93.184.215.14", "151.101.1.140"
_LINES = Path(__file__).with_name("hostile_addresses.txt").read_text("utf-8").splitlines()
_ADDRESSES = [
    line.replace("<shy>", "\u00ad").replace("<zwnj>", "\u200c").replace("PUBLIC", PUBLIC)
    for line in _LINES
    if not line.startswith("#")
]
URLS = [
    address if re.match("(?i)[a-z+]*:?[/\\\\]|[a-z-]{4,}:", address) else f"http://{address}/" for address in _ADDRESSES
]
HOSTS = [address for address in _ADDRESSES if "/" not in address and "\\" not in address and "," not in address]
GRANT = AccountGrant({"key": "canary"}, base_url=f"https://{PUBLIC}", allowed_hosts=(PUBLIC,))


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The addresses that were connected to; nobody answers."""
    addresses: list[str] = []

    def connect(address: Any, *_: Any) -> None:
        addresses.append(str(address))
        raise ConnectionRefusedError

    monkeypatch.setattr(transport, "_connect_one", connect)
    yield addresses


@pytest.fixture
def http() -> Iterator[BrokeredHttp]:
    broker = Broker(Call("x.py", accounts={"a": GRANT}), lambda _: None)
    with served(broker):
        yield BrokeredHttp(BrokerLine(broker.far.fileno()), None, lambda: 2.0)


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Answers look-ups in turn, the last one for good; the names that were looked up."""
    asked: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        addresses = answers[min(len(asked), len(answers)) - 1]
        return [(None, None, None, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_there_are_more_than_eighty_of_each() -> None:
    assert len(set(URLS)) > 220 and len(set(HOSTS)) > 170


def test_none_of_them_is_connected_to(http: BrokeredHttp, reached: list[str]) -> None:
    for url in URLS:
        with pytest.raises(HttpError):
            http.get(url)
    assert reached == []


def test_nor_as_the_server_of_an_account(reached: list[str], tmp_path: Path) -> None:
    path = tmp_path / "1.0.0.py"
    path.write_text("class A:\n    reads_secrets = True\n")
    for host in HOSTS:
        call = Call(str(path), accounts={"a": AccountGrant({"host": host})})
        assert isinstance(connected(call, host, 5432, Deadline(2)), Failure), host
    assert reached == []


def test_nor_by_an_integration_of_which_a_rule_names_it(reached: list[str]) -> None:
    for host in HOSTS:
        for written in {host, host.strip("[]")}:
            outcome = channels.connected((), written, 443, Deadline(2))
            assert isinstance(outcome, Failure), written
            refused = channels.refusal((f"*.{PUBLIC}", "api.acme.example"), written, 443)
            assert isinstance(refused, Failure), written
    assert reached == []


@pytest.mark.parametrize(
    "answers",
    [
        [["127.0.0.1"]],
        [[PUBLIC, "127.0.0.1"]],
        [["127.0.0.1", PUBLIC]],
        [["10.0.0.1", "::1"]],
        [["169.254.169.254"]],
        [["::ffff:169.254.169.254"]],
        [["64:ff9b::7f00:1"]],
    ],
)
def test_a_name_that_leads_there_is_not_followed(
    http: BrokeredHttp, reached: list[str], monkeypatch: pytest.MonkeyPatch, answers: list[list[str]]
) -> None:
    names(monkeypatch, *answers)
    with pytest.raises(HttpError, match="not on the public internet"):
        http.get("https://rebind.example/")
    assert reached == []


def test_a_name_that_changes_its_mind_gains_nothing(
    http: BrokeredHttp, reached: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = names(monkeypatch, [PUBLIC], ["127.0.0.1"], [OTHER_PUBLIC], ["10.0.0.1"])
    for _ in range(20):
        with pytest.raises(HttpError):
            http.get("https://rebind.example/")
    assert reached == [PUBLIC, OTHER_PUBLIC] and len(asked) == 20
    assert all(ip_address(address).is_global for address in reached)


def test_the_credential_stays_away_from_other_hosts(reached: list[str]) -> None:
    broker = Broker(Call("x.py", accounts={"a": GRANT}), lambda _: None)
    http = broker._http("a")
    for url in (
        f"https://{PUBLIC}.evil.example/",
        f"https://evil.example/{PUBLIC}",
        f"http://{PUBLIC}/",
        f"https://{PUBLIC}:444/",
    ):
        assert http._hosts_of(url) is None
    assert http._hosts_of(f"https://{PUBLIC}/x") is not None
    broker.close()
