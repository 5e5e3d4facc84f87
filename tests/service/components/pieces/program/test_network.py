"""Every way of Node to connect goes over channels: fetch, http, https, http2, tls and raw sockets."""

import json
from hashlib import sha256

import pytest

from tests.service.components.pieces.program.driver import REFUSED, Host

BIG = 20 * 1024 * 1024


@pytest.mark.parametrize("url", ["https://far.test/a", "http://far.test/a"])
def test_fetch_asks_by_name(host: Host, url: str) -> None:
    outcome = host.run("fetch", props={"url": url})
    assert outcome.error is None
    assert outcome.value["status"] == 200
    assert json.loads(outcome.value["text"])["host"] == "far.test"
    assert outcome.hosts == [f"far.test:{443 if url.startswith('https') else 80}"]


def test_http_of_node_asks_without_tls(host: Host) -> None:
    assert host.run("http", props={"url": "http://far.test/"}).value["version"] == "1.1"


def test_twenty_mebibytes_come_down_within_the_credit(host: Host) -> None:
    value = host.run("fetch", props={"url": "https://far.test/big"}).value
    assert (value["size"], value["digest"]) == (BIG, sha256(b"0123456789abcdef" * (BIG // 16)).hexdigest())


@pytest.mark.parametrize("name", ["fetch", "upload"])
def test_twenty_mebibytes_go_up_within_the_credit(host: Host, name: str) -> None:
    value = host.run(name, props={"url": "https://far.test/", "method": "POST", "size": BIG}).value
    assert (value if name == "upload" else json.loads(value["text"]))["size"] == BIG


def test_an_agent_keeps_its_connection_for_the_call(host: Host) -> None:
    first = host.run("kept_alive", props={"url": "https://far.test/"})
    assert len(first.hosts) == 1
    assert len(set(first.value)) == 1
    second = host.run("kept_alive", props={"url": "https://far.test/"})
    assert len(second.hosts) == 1
    assert second.value[0] > first.value[0]


def test_http2_multiplexes_on_one_connection(host: Host) -> None:
    outcome = host.run("http2", props={"url": "https://far.test"})
    assert outcome.value == {"protocol": "h2", "versions": ["2.0", "2.0"]}
    assert outcome.hosts == ["far.test:443"]


def test_tls_checks_the_name_and_agrees_on_a_protocol(host: Host) -> None:
    outcome = host.run("tls", props={"host": "far.test"})
    assert outcome.value == {
        **{"authorized": True, "alpnProtocol": "h2", "upgraded": True, "late": True},
        "from": "far.test",
    }
    error = host.run("tls", props={"host": "other.test"}).error
    assert error is not None
    assert "Hostname/IP does not match certificate's altnames" in error["message"]


@pytest.mark.parametrize("url", ["https://other.test/", "https://unknown.test/"])
def test_no_piece_turns_the_check_of_certificates_off_for_all(host: Host, url: str) -> None:
    error = host.run("trusts_all", props={"url": url}).error
    assert error is not None
    assert "certificate" in error["message"]


def test_a_side_may_close_before_the_other(host: Host) -> None:
    outcome = host.run("half_closed", props={"text": "a" * 300_000 + "b"})
    assert outcome.value == {"text": "b" + "a" * 300_000, "bytes": 300_001, "host": "echo.test"}


def test_an_address_that_was_looked_up_stands_for_its_name(host: Host) -> None:
    outcome = host.run("looked_up")
    assert outcome.value == {"text": "ba", "same": True}
    assert outcome.hosts == ["echo.test:7"]


def test_a_socket_connects_again(host: Host) -> None:
    assert host.run("reconnected").value == ["ba", "dc"]


@pytest.mark.parametrize(
    ("name", "path", "message"),
    [
        ("timeout", "slow", "too slow for me"),
        ("aborted", "slow", "The operation was aborted due to timeout"),
        ("fetch", "cut", "fetch failed: "),
    ],
)
def test_a_connection_that_fails_is_an_ordinary_error(host: Host, name: str, path: str, message: str) -> None:
    error = host.run(name, props={"url": f"https://far.test/{path}"}).error
    assert error is not None
    assert message in error["message"]


def test_a_refused_host_is_an_error_that_says_why(host: Host) -> None:
    error = host.run("fetch", props={"url": "https://elsewhere.test/"}).error
    assert error is not None
    assert error["message"] == f"fetch failed: {REFUSED}"
    own = host.run("why_not", props={"url": "https://elsewhere.test/"})
    assert own.value == error["message"]  # to a piece that shows the message alone, too


def test_a_piece_that_keeps_asking_for_a_refused_host_is_stopped(host: Host) -> None:
    outcome = host.run("refused_for_ever")
    assert outcome.error is not None
    assert outcome.error["message"] == REFUSED
    assert len(outcome.hosts) == 3
    assert outcome.is_spent
