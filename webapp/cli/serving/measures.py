"""What web processes count for ``/metrics``, in files that all of them see: each answers with the sums of all, and what
one counted that has ended stays in them.

The library of Prometheus writes a file for each process to the folder that its own variable names. It reads that
variable when it is imported, which nobody does before web processes are prepared.
"""

import atexit
import os

from webapp.kit.scratch import Scratch
from webapp.settings import Settings

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def share(settings: Settings) -> None:
    """Make the folder for web processes that are forked next, where there are several. It ends with this process."""
    if settings.web > 1 and settings.metrics_token:
        scratch = Scratch("patchbay-metrics-")
        os.environ[FOLDER] = str(scratch.path)
        atexit.register(scratch.close)
