"""The keys of components: the slug of the app before the name, such as ``slack-send-message``.

The operator's components that belong to no app have ``~/`` in its place.
"""

OWN = "~/"


def key_of(app: str | None, name: str) -> str:
    """The key of the component ``name`` of ``app``; without an app, of an own component."""
    return f"{_prefix(app)}{name}"


def name_of(key: str, app: str | None) -> str:
    """The name of the component ``key`` of ``app``: the key without what is before it."""
    return key.removeprefix(_prefix(app))


def _prefix(app: str | None) -> str:
    return f"{app}-" if app else OWN
