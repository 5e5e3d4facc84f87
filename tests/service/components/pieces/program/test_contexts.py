"""What the functions of a piece get: account, values, store, files, project; what is not here says so."""

import base64
from hashlib import sha256
from pathlib import Path

import pytest

from tests.service.components.pieces.program.conftest import NAME, install
from tests.service.components.pieces.program.driver import Host

KEYS = {"type": "CUSTOM_AUTH", "props": {"key": "good"}}
ENDPOINT = "https://connect.test/h/1"


def test_an_action_knows_its_account_values_and_project(host: Host) -> None:
    name = sha256(b"u1").hexdigest()[:24]
    value = host.run("context", auth=KEYS, props={"base": "A"}, user="u1", endpoint=ENDPOINT).value
    assert value == {
        "auth": KEYS,
        "values": {"base": "A"},  # without the account, which they have, too
        "account": KEYS,
        "project": [name, None],
        "server": {"apiUrl": "https://connect.test/", "publicUrl": "https://connect.test/", "token": ""},
        "connection": None,
        "step": {"name": "context"},
        "type": "BEGIN",
        "flow": name,
    }


def test_the_store_reads_what_came_and_tells_what_changed(host: Host) -> None:
    outcome = host.run("stores", state={"flow:kept": 0, "flow:gone": 1})
    assert outcome.value == [0, {"a": 1}, "project", None]
    assert outcome.state == {"flow:kept": {"a": 1}, "project:kept": "project", "flow:gone": None}


def test_what_stands_under_the_id_of_the_run_ends_with_it_and_there_is_an_end_of_room(host: Host) -> None:
    outcome = host.run("stores_for_the_run")
    assert outcome.value == "for now" and outcome.state == {}
    error = host.run("stores_much", state={"flow:a": "x" * 200 * 1024}).error
    assert error is not None
    assert (error["name"], error["message"]) == (
        "StoreFull", "The store keeps at most 256 KiB. Delete from it what is not needed any more.",
    )  # fmt: skip


@pytest.mark.parametrize("reference", ["in.txt", "data:text/plain;base64,Z2l2ZW4="])
def test_files_come_and_go(host: Host, reference: str) -> None:
    content = base64.b64encode(b"given").decode()
    outcome = host.run("files", props={"file": {"$file": reference}}, files={"in.txt": content})
    name = "in.txt txt" if reference == "in.txt" else "file undefined"
    assert outcome.value == {"text": f"{name} {content}", "written": "file://out.txt"}
    assert outcome.messages == [{"file": "out.txt", "content": base64.b64encode(b"written").decode()}]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("absent.txt", 'There is no file "absent.txt" in this call.'),
        ("https://far.test/status/404", "could not be read"),
    ],
)
def test_a_file_that_is_not_there_is_an_error(host: Host, reference: str, message: str) -> None:
    error = host.run("files", props={"file": {"$file": reference}}).error
    assert error is not None
    assert message in error["message"]


@pytest.mark.parametrize("what", ["list", "add", "tools", "wait", "pause"])
def test_what_is_not_here_says_so(host: Host, what: str) -> None:
    error = host.run("wants", props={"what": what}).error
    assert error is not None
    assert error["name"] == "NotSupported"
    assert error["message"].startswith("This part of the piece needs ")


def test_an_answer_and_what_is_done_so_far_are_exports(host: Host) -> None:
    assert host.run("stops").messages == [
        {"export": "output", "value": {"half": 1}},
        {"export": "response", "value": {"status": 201}},
    ]


@pytest.mark.parametrize(
    ("key", "valid"), [("good", {"valid": True}), ("bad", {"valid": False, "error": "Not that key."})]
)
def test_the_piece_says_whether_an_account_is_good(host: Host, key: str, valid: dict[str, object]) -> None:
    assert host.call(method="validate", auth={"type": "CUSTOM_AUTH", "props": {"key": key}}).value == valid


def test_a_piece_for_older_contexts_gets_plain_values(node: None, tmp_path: Path) -> None:
    source = """
        const run = async (context) => [context.auth, context.serverUrl];
        const action = { name: "a", displayName: "A", props: {}, run };
        exports.old = { displayName: "Old", actions: () => ({ action }), triggers: () => ({}) };
    """
    host = Host(install(tmp_path, source), NAME, {})
    auth = {"type": "SECRET_TEXT", "secret_text": "s3cret"}
    assert host.run("action", auth=auth, endpoint=ENDPOINT).value == ["s3cret", "https://connect.test/"]
    assert host.run("action", auth=KEYS, endpoint=ENDPOINT).value == [{"key": "good"}, "https://connect.test/"]
    host.close()
