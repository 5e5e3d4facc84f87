"""Work done once in a process of its own, so that this one opens no database and starts no thread."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from webapp.cli.options import sentence_of
from webapp.cli.serving.logs import flush


class Failed(RuntimeError):
    """The work could not be done; the message is the one sentence to show."""


def ask(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``work`` gives, as JSON carries it, from a child process. Raises :class:`Failed`."""
    reading, writing = os.pipe()
    flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    if not answer:
        raise Failed("Patchbay could not start; the lines above say why.")
    result: dict[str, Any] = json.loads(answer)
    if "failed" in result:
        raise Failed(result["failed"])
    return result


def _answer(work: Callable[[], dict[str, Any]], writing: int) -> None:
    """The child's whole life; never returns."""
    try:
        try:
            answer = work()
        except Exception as error:
            sentence = sentence_of(error)
            if sentence is None:
                raise
            answer = {"failed": sentence}
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        flush()
        os._exit(0)
