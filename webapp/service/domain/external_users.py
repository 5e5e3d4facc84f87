"""External users (table ``external_users``): the developer's end users, made by the first token, account or deploy."""

import unicodedata
from dataclasses import dataclass

from webapp.errors import Detail, Invalid
from webapp.kit.ids import new_id
from webapp.service.domain.projects import Scene
from webapp.store.contract import Reader, Tx

MAX_LENGTH = 250


@dataclass(frozen=True, slots=True)
class ExternalUser:
    """A user of one scene: our id, and the developer's."""

    id: str
    external_id: str
    scene: Scene


def checked(external_id: str) -> str:
    """``external_id`` if it can name a user: 1 to 250 characters, none of them a control character or surrogate.

    Raises :class:`Invalid`.
    """
    if not external_id or len(external_id) > MAX_LENGTH:
        raise _invalid(f"It must be 1 to {MAX_LENGTH} characters long.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in external_id):
        raise _invalid("It must not hold control characters.")
    return external_id


def ensure(tx: Tx, scene: Scene, external_id: str, now: int) -> ExternalUser:
    """The user ``external_id`` of ``scene``, made when it is new. Raises :class:`Invalid`."""
    checked(external_id)
    found = find(tx, scene, external_id)
    if found:
        return found
    user = ExternalUser(new_id("exu"), external_id, scene)
    tx.run(
        "INSERT INTO external_users (id, project_id, environment, external_id, created_at, updated_at) "
        "VALUES (:id, :project, :environment, :external_id, :now, :now)",
        {**_scene(scene), "id": user.id, "external_id": external_id, "now": now},
    )
    return user


def find(reader: Reader, scene: Scene, external_id: str) -> ExternalUser | None:
    """The user ``external_id`` of ``scene``, if there is one."""
    row = reader.one(
        "SELECT id FROM external_users WHERE project_id = :project AND environment = :environment "
        "AND external_id = :external_id",
        {**_scene(scene), "external_id": external_id},
    )
    return ExternalUser(row["id"], external_id, scene) if row else None


def _scene(scene: Scene) -> dict[str, str]:
    return {"project": scene.project_id, "environment": scene.environment}


def _invalid(message: str) -> Invalid:
    return Invalid(f"external_user_id is not valid: {message}", [Detail("external_user_id", message)])
