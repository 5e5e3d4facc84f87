"""A process keeps its own descriptors alone, and takes its request with the way to its broker."""

import json
import os
import socket
from pathlib import Path

from webapp.service.components.child_pipes import BROKER, MESSAGES, Pipes, received, set_up
from webapp.service.components.wire import encode


def test_it_has_its_own_descriptors_only_and_takes_a_request_that_comes_later(tmp_path: Path) -> None:
    reading, messages = os.pipe()
    near, far = socket.socketpair()
    asked, broker = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            set_up(Pipes(messages, messages, far.fileno()), tmp_path, None)
            request = received()
            os.write(BROKER, b"a question")
            descriptors = sorted(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208
            os.write(MESSAGES, json.dumps([request.decode(), str(Path.cwd()), descriptors]).encode())
        finally:
            os._exit(0)
    os.close(messages)
    request = encode({"path": "x" * 50_000})
    socket.send_fds(near, [request], [broker])
    os.close(broker)
    with near, far, os.fdopen(reading, "rb") as told, os.fdopen(asked, "rb") as question:
        taken, folder, descriptors = json.loads(told.read())
        assert (encode(json.loads(taken)), folder, question.read()) == (request, str(tmp_path), b"a question")
    assert descriptors == [0, 1, 2, MESSAGES, BROKER, BROKER + 1]  # the last is the folder that it looked at
    os.waitpid(pid, 0)


def test_it_ends_where_nobody_sends_a_request(tmp_path: Path) -> None:
    near, far = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            near.close()
            set_up(Pipes(1, 1, far.fileno()), tmp_path, None)
            received()
        finally:
            os._exit(1)
    far.close()
    near.close()
    assert os.waitpid(pid, 0)[1] == 0
