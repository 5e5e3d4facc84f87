"""Mounts the dashboard's pages below ``/portal/<handle>``, so that a portal needs no pages of its own.

The prefix becomes the request's script root (PEP 3333), with which all addresses of a page begin.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PREFIX = "/portal/ps_"
HANDLE = "patchbay.portal"
"""Where the environ of a portal's request holds its handle; no header can write it."""
_PAGES = frozenset({"", "apps", "accounts", "triggers", "logs", "activity", "agents"})
_NOTHING = "/portal/nothing"


def mount(environ: "WSGIEnvironment") -> None:
    """Remove the prefix of a portal's page from the path. Pages that a portal does not have are not found."""
    handle, _, rest = str(environ["PATH_INFO"]).removeprefix("/portal/").partition("/")
    environ[HANDLE] = handle
    environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/portal/{handle}"
    environ["PATH_INFO"] = f"/{rest}" if rest.partition("/")[0] in _PAGES else _NOTHING
