"""What is done to webhooks and their keys, as the audit has it. An address is named by its host: it may hold a key."""

from urllib.parse import urlsplit

from webapp import audit
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Tx

_WORDS = {
    "created": "{what} was added, at {host}.",
    "moved": "{what} now leads to {host}.",
    "removed": "{what} at {host} was removed.",
    "key_regenerated": "{what} at {host} has a new signing key.",
}


def note(
    tx: Tx, at: int, verb: str, *, endpoint_id: str, owner: str, url: str, project: str | None, environment: str | None
) -> None:
    """Write down that ``verb`` was done. A token's ``webhook_uri`` is made by nobody."""
    if owner == "notification":
        return
    host = urlsplit(url).hostname or "an address"
    sentence = _WORDS[verb].format(what=f"A webhook ({owner})", host=host)
    audit.write(tx, at, "webhook", endpoint_id, verb, sentence, project=project, environment=environment)


def project_key(tx: Tx, at: int, scene: Scene) -> None:
    """Write down that an environment's own signing key was replaced."""
    sentence = f"The signing key of {scene.environment} was replaced."
    audit.write(tx, at, "key", scene.project_id, "regenerated", sentence, **scene.params)
