"""Where log lines go: to standard error, one line each; standard output belongs to what a command prints.

As text for people, or as JSON objects for machines. Either names the process, and the request that was answered.
"""

import logging
import sys
import time
from collections.abc import Mapping, MutableMapping
from typing import Any

TIMES = "%Y-%m-%dT%H:%M:%S"
_OURS = ("route", "method", "status", "took_ms")  # what lines about requests carry besides


def configure(level: str, process: str = "patchbay", form: str = "text") -> None:
    """Log ``level`` and above, as ``text`` or ``json``. Times are UTC."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_json(process) if form == "json" else _text(process))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    if level != "debug":
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a full pool is no fault


def flush() -> None:
    """Write out what is still buffered, before a process ends without ceremony."""
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
