"""Where log lines go: to standard error, one line each; standard output belongs to what a command prints.

As text for people, or as JSON objects for machines. Either names the process, and the request that was answered. Where
standard error is a file, SIGHUP has it reopened, as programs that rotate logs expect; at a terminal it means that the
terminal was closed.
"""

import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

TIMES = "%Y-%m-%dT%H:%M:%S"
_OURS = ("route", "method", "status", "took_ms")  # what lines about requests carry besides


def configure(level: str, process: str = "patchbay", form: str = "text") -> None:
    """Log ``level`` and above, as ``text`` or ``json``. Times are UTC."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_json(process) if form == "json" else _text(process))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    if level != "debug":
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a full pool is not an error


def reopen_on_hangup(then: Callable[[], object] = lambda: None) -> None:
    """Reopen the files of standard output and error on SIGHUP, by their present names, and call ``then``.

    To be called in the main thread. At a terminal SIGHUP ends the process as SIGTERM does.
    """
    if sys.stderr.isatty():
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        return
    files = {descriptor: path for descriptor in (1, 2) if (path := _file(descriptor)) is not None}

    def reopen(*_: object) -> None:
        for descriptor, path in files.items():
            fresh = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.dup2(fresh, descriptor)
            os.close(fresh)
        then()

    signal.signal(signal.SIGHUP, reopen)


def _file(descriptor: int) -> Path | None:
    """The path of the file that ``descriptor`` writes to; None where it is a pipe, a terminal or nothing."""
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return Path(f"/proc/self/fd/{descriptor}").readlink()
    except OSError:
        return None
    return None


def flush() -> None:
    """Write out what is still buffered, before a process ends by ``os._exit``."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _text(process: str) -> logging.Formatter:
    formatter = logging.Formatter(f"%(asctime)s.%(msecs)03dZ {process} %(levelname)s %(message)s", TIMES)
    formatter.converter = time.gmtime
    return formatter


def _json(process: str) -> logging.Formatter:
    import structlog  # imported only by whoever asks for JSON: it takes long

    from webapp.kit import crypto

    def to_fields(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        record: logging.LogRecord = event["_record"]
        stamp = f"{time.strftime(TIMES, time.gmtime(record.created))}.{record.msecs:03.0f}Z"
        fields = {"at": stamp, "level": record.levelname.lower(), "process": process, "logger": record.name}
        if request_id := crypto.request_id():
            fields["request_id"] = request_id
        return {**fields, **{name: vars(record)[name] for name in _OURS if name in vars(record)}, **event}

    return structlog.stdlib.ProcessorFormatter(
        processors=[
            to_fields,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(),
        ]
    )
