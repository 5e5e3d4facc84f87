"""Where log lines go: to standard error, one line each; standard output belongs to what a command prints."""

import logging
import sys
import time


def configure(level: str, process: str = "patchbay") -> None:
    """Log ``level`` and above; each line names the ``process`` that wrote it. Times are UTC."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = logging.Formatter(f"%(asctime)s.%(msecs)03dZ {process} %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    if level != "debug":
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a full pool is no fault


def flush() -> None:
    """Write out what is still buffered, before a process ends without ceremony."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
