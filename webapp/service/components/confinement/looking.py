"""Finds out what confines the code of components here, for who has no runner: in a process that ends at once."""

import os

import orjson

from webapp.service.components.confinement.confinement import Confinement, Measure


def look() -> list[Measure]:
    """What a runner of this user would say. Raises ``OSError``."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, orjson.dumps(Confinement.begin().report()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    return [Measure(**fields) for fields in orjson.loads(told)]
