"""The scopes of OAuth access tokens and Connect tokens, and which of them covers which (contract "Scopes")."""

from collections.abc import Iterable

ALL = "*"
CONNECT = "connect:*"
ACTIONS = "connect:actions:*"
TRIGGERS = "connect:triggers:*"
AGENTS_READ = "connect:agents:read"
AGENTS_WRITE = "connect:agents:write"
ACCOUNTS_READ = "connect:accounts:read"
ACCOUNTS_WRITE = "connect:accounts:write"
DEPLOYED_TRIGGERS_READ = "connect:deployed_triggers:read"
DEPLOYED_TRIGGERS_WRITE = "connect:deployed_triggers:write"
USERS_READ = "connect:users:read"
USERS_WRITE = "connect:users:write"
PROJECTS_READ = "connect:projects:read"
PROJECTS_WRITE = "connect:projects:write"
USAGE_READ = "connect:usage:read"
TOKENS_CREATE = "connect:tokens:create"
PROXY = "connect:proxy"
WORKFLOW_INVOKE = "connect:workflow:invoke"

KNOWN = frozenset(
    {
        ALL,
        CONNECT,
        ACTIONS,
        TRIGGERS,
        AGENTS_READ,
        AGENTS_WRITE,
        ACCOUNTS_READ,
        ACCOUNTS_WRITE,
        DEPLOYED_TRIGGERS_READ,
        DEPLOYED_TRIGGERS_WRITE,
        USERS_READ,
        USERS_WRITE,
        PROJECTS_READ,
        PROJECTS_WRITE,
        USAGE_READ,
        TOKENS_CREATE,
        PROXY,
        WORKFLOW_INVOKE,
    }
)


class UnknownScope(ValueError):
    """A scope that does not exist; the message names it."""


def parse(text: str) -> tuple[str, ...]:
    """The scopes in a space-separated ``text``, in order, each once. Raises :class:`UnknownScope`."""
    names = tuple(dict.fromkeys(text.split()))
    for scope in names:
        if scope not in KNOWN:
            raise UnknownScope(f"{scope!r} is not a scope.")
    return names


def covers(granted: Iterable[str], needed: str) -> bool:
    """Whether one of ``granted`` admits ``needed``: itself, or a wildcard above it."""
    return any(have == needed or (have.endswith("*") and needed.startswith(have[:-1])) for have in granted)
