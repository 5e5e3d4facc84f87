"""Processes that restrict themselves and tell what they could still do."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from webapp.service.components.confinement.readable_paths import prepare

Work = Callable[[], Any]
Forked = Callable[[Work], Any]


@pytest.fixture
def forked() -> Forked:
    """Runs a function in a process of its own and gives back its result, or the name of the error that it raised."""
    prepare()

    def run(work: Work) -> Any:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                result = work()
            except BaseException as error:
                result = f"{type(error).__name__}: {error}"
            os.write(writing, json.dumps(result).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        assert os.waitpid(pid, 0)[1] == 0
        return json.loads(told)

    return run


def attempt(work: Work) -> str:
    """``done``, or the name of the error."""
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return "done"
