"""The addresses ``https://<key>.<PATCHBAY_WORKFLOW_DOMAIN>/…``: every path there belongs to the trigger with that key.

Nothing else of the application answers under such a host: no page, no API and no probe.
"""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

OWN_HOST = "patchbay.trigger_host"
_KEY = re.compile(r"[a-z0-9]{1,63}")  # a label of a host name (RFC 1035 section 2.3.1)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class TriggerHosts:
    """Knows the hosts of triggers, where the operator gave them a domain."""

    def __init__(self, settings: Settings) -> None:
        self._suffixes = _suffixes(settings) if settings.workflow_domain else frozenset()

    def route(self, environ: "WSGIEnvironment", host: str) -> bool:
        """Lead a request for the ``host`` of a trigger to it; whether it is one."""
        key, _, suffix = host.partition(".")
        if suffix not in self._suffixes or not _KEY.fullmatch(key):
            return False
        environ["PATH_INFO"] = f"/h/{key}{environ.get('PATH_INFO', '')}"
        environ[OWN_HOST] = True
        return True


def _suffixes(settings: Settings) -> frozenset[str]:
    """What stands behind the key and its dot: the domain, with the port of the public address where that has one."""
    parts = urlsplit(settings.public_url)
    default = _DEFAULT_PORTS[parts.scheme]
    port = parts.port or default
    suffix = f"{settings.workflow_domain}:{port}"
    return frozenset((suffix, str(settings.workflow_domain)) if port == default else (suffix,))
