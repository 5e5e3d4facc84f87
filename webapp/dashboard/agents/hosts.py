"""Where people keep their assistants, and what to do there with the address."""

from dataclasses import dataclass

from webapp.kit.translation import lazy as _


@dataclass(frozen=True, slots=True)
class Host:
    """A kind of program, and what to do with the address in it."""

    name: str
    label: str
    sentence: str


HOSTS = (
    Host(
        "",
        _("Any"),
        _(
            "Paste it where your assistant adds a “connector” or “MCP server”. It opens a page here and asks you once. "
            "No key to keep."
        ),
    ),
    Host(
        "chat",
        _("Desktop chat"),
        _("Look for Connectors in its settings, add a custom one, and paste the address. Then sign in here."),
    ),
    Host(
        "editor",
        _("Code editor"),
        _("Add an MCP server of the kind HTTP with this address. The editor opens a page here to sign in."),
    ),
    Host(
        "code",
        _("Your own code"),
        _("Send a Connect token or an access token as the bearer, and no person has to sign in."),
    ),
)


def host_of(name: str) -> Host:
    """The host of that name, else any."""
    return next((host for host in HOSTS if host.name == name), HOSTS[0])
