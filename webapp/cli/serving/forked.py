"""Work done once in a process of its own, so that this one opens no database and starts no thread meanwhile."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webapp.cli.options import sentence_of
from webapp.cli.serving.logs import flush


class Failed(RuntimeError):
    """The work could not be done; the message is the one sentence to show."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work that goes on in the child process ``pid``, which writes its result to the pipe ``reading``."""

    pid: int
    reading: int

    def result(self) -> dict[str, Any]:
        """What it gave, as JSON carries it, when it has ended. To be called once. Raises :class:`Failed`."""
        with os.fdopen(self.reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(self.pid, 0)
        if not answer:
            raise Failed("Patchbay could not start; the lines above say why.")
        result: dict[str, Any] = json.loads(answer)
        if "failed" in result:
            raise Failed(result["failed"])
        return result


def begin(work: Callable[[], dict[str, Any]]) -> Work:
    """Begin ``work`` in a child process."""
    reading, writing = os.pipe()
    flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    return Work(pid, reading)


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
    except KeyboardInterrupt:
        pass  # whoever waits says so
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        flush()
        os._exit(0)
