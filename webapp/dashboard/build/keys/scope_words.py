"""What scopes allow, in plain words (contract "Scopes")."""

from collections.abc import Mapping, Sequence

from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

ALL, CONNECT = "*", "connect:*"
# By scope, in the order of the form.
WORDS: Mapping[str, str] = {
    "connect:tokens:create": _("Make Connect tokens"),
    "connect:accounts:read": _("See accounts"),
    "connect:accounts:write": _("Connect and remove accounts"),
    "connect:actions:*": _("Run actions"),
    "connect:proxy": _("Send requests through accounts"),
    "connect:triggers:*": _("Start watching for events"),
    "connect:deployed_triggers:read": _("See triggers and their events"),
    "connect:deployed_triggers:write": _("Change and remove triggers"),
    "connect:agents:read": _("See what agents may do"),
    "connect:agents:write": _("Decide what agents may do"),
    "connect:workflow:invoke": _("Start workflows"),
    "connect:users:read": _("See users"),
    "connect:users:write": _("Remove users"),
    "connect:projects:read": _("See projects and their settings"),
    "connect:projects:write": _("Change projects and their settings"),
    "connect:usage:read": _("See usage"),
}


def in_words(scopes: Sequence[str]) -> str:
    """What ``scopes`` allow together, such as ``Everything`` or ``See accounts · Run actions``."""
    if ALL in scopes:
        return gettext("Everything")
    if CONNECT in scopes:
        return gettext("All of Connect")
    return " · ".join(str(WORDS.get(scope, scope)) for scope in scopes) or gettext("Nothing")
