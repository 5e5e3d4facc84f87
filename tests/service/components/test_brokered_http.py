"""A component's HTTP in the process of its call: it speaks over one descriptor, and a broken line is a sentence."""

import os
import socket
import threading

import orjson
import pytest

from webapp.service.components.brokered_http import BrokeredHttp, BrokerLine
from webapp.service.components.errors import HttpError
from webapp.service.components.wire import frame


def asked(answer: bytes) -> tuple[BrokeredHttp, socket.socket]:
    """A client whose broker has answered already, and the broker's end."""
    near, far = socket.socketpair()
    far.sendall(answer)
    return BrokeredHttp(BrokerLine(near.detach()), "a", lambda: 3.0), far


def test_a_question_has_a_head_and_a_body_and_so_has_its_answer() -> None:
    head = {"status": 201, "headers": [["Set-Cookie", "a"], ["set-cookie", "b"]], "url": "https://x/", "size": 3}
    http, far = asked(frame(orjson.dumps(head)) + b"abc")
    answer = http.post("/x", data=b"12", headers={"X": 1})
    assert (answer.status, answer.text, answer.headers["SET-COOKIE"]) == (201, "abc", "a, b")
    sent = far.recv(9_000)
    question = orjson.loads(sent[4:-2])
    assert sent.endswith(b"12") and (question["prop"], question["size"], question["left_s"]) == ("a", 2, 3.0)
    assert question["headers"] == {"X": "1"}
    far.close()


@pytest.mark.parametrize(
    "answer", [{"error": "It is wrong."}, {"kind": "dns", "sentence": "It is wrong."}], ids=["refused", "failed"]
)
def test_a_failure_is_raised_in_its_own_words(answer: dict[str, str]) -> None:
    http, far = asked(frame(orjson.dumps({**answer, "size": 0})))
    with pytest.raises(HttpError, match="It is wrong"):
        http.get("/x")
    far.close()


@pytest.mark.parametrize("answer", [b"", b"\0\0", frame(b"no JSON"), frame(b'{"size": 9}') + b"abc"])
def test_a_line_that_ends_is_a_sentence(answer: bytes) -> None:
    http, far = asked(answer)
    threading.Timer(0.02, far.close).start()
    with pytest.raises(HttpError, match="nobody waits"):
        http.get("/x")


def test_without_a_broker_nothing_is_sent() -> None:
    with pytest.raises(HttpError, match="nobody waits"):
        BrokerLine(os.open(os.devnull, os.O_RDONLY)).ask({})
