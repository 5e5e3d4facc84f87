"""What an application may be allowed to do, in the wire's words and in plain ones."""

SCOPES = {
    "profile": "Read your name and e-mail address",
    "tasks:read": "See projects, their fields and tasks",
    "tasks:write": "Create, change and delete tasks",
    "webhooks": "Be told at once when tasks are created or changed",
}
DEFAULT_SCOPE = "profile"


def in_words(scope: str) -> list[str]:
    """The plain sentences for a space-separated scope, in the order they were asked for."""
    return [SCOPES[name] for name in scope.split() if name in SCOPES]
