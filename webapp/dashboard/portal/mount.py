"""Where the pages of a portal stand: the dashboard's own, below ``/portal/<handle>``, so that no page is written twice.

The prefix becomes the request's script root (PEP 3333), which every address that a page makes begins with.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PREFIX = "/portal/ps_"
HANDLE = "patchbay.portal"
"""Where the environ of a portal's request holds its handle; no header can write it."""
_PAGES = frozenset({"", "apps", "accounts", "triggers", "activity", "agents"})
_NOTHING = "/portal/nothing"


def mount(environ: "WSGIEnvironment") -> None:
    """Take the prefix of a portal's page out of the path. What is no page of a portal is not there."""
    handle, _, rest = str(environ["PATH_INFO"]).removeprefix("/portal/").partition("/")
    environ[HANDLE] = handle
    environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/portal/{handle}"
    environ["PATH_INFO"] = f"/{rest}" if rest.partition("/")[0] in _PAGES else _NOTHING
