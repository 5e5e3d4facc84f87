"""External users (table ``external_users``): the developer's end users, created by the first token, account or
deploy.
"""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from webapp.errors import Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.crypto import new_id
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

MAX_LENGTH = 250


@dataclass(frozen=True, slots=True)
class ExternalUser:
    """A user of one scene: our id, and the developer's."""

    id: str
    external_id: str
    scene: Scene


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A user as the table has them and lists show them; times are epoch milliseconds."""

    id: str
    external_id: str
    scene: Scene
    created_at: int
    updated_at: int

    def to_json(self) -> dict[str, Any]:
        """The user as the API shows them."""
        return {
            "id": self.id,
            "external_id": self.external_id,
            "created_at": iso(self.created_at),
            "updated_at": iso(self.updated_at),
        }


_USERS = Table("external_users", ListedUser)


def checked(external_id: str) -> str:
    """``external_id`` if it can name a user: 1 to 250 characters, none of them a control character or surrogate.

    Raises :class:`Invalid`.
    """
    if not external_id or len(external_id) > MAX_LENGTH:
        raise Invalid.of("external_user_id", f"It must be 1 to {MAX_LENGTH} characters long.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in external_id):
        raise Invalid.of("external_user_id", "It must not hold control characters.")
    return external_id


def ensure(tx: Tx, scene: Scene, external_id: str, now: int) -> ExternalUser:
    """The user ``external_id`` of ``scene``, made when it is new. Raises :class:`Invalid`."""
    checked(external_id)
    user = find(tx, scene, external_id)
    if user:
        return user
    user = ExternalUser(new_id("exu"), external_id, scene)
    _USERS.insert(tx, ListedUser(user.id, external_id, scene, now, now))
    return user


def find(reader: Reader, scene: Scene, external_id: str) -> ExternalUser | None:
    """The user ``external_id`` of ``scene``, if there is one."""
    row = reader.one(
        "SELECT id FROM external_users WHERE project_id = :project AND environment = :environment "
        "AND external_id = :external_id",
        {**scene.params, "external_id": external_id},
    )
    return ExternalUser(row["id"], external_id, scene) if row else None


def of_id(reader: Reader, external_id: str) -> list[ExternalUser]:
    """The users of that id, of every project and environment."""
    where = "project_id IN (SELECT id FROM projects) AND environment IN ('development', 'production')"
    rows = _USERS.all(reader, f"{where} AND external_id = :external_id", {"external_id": external_id})
    return [ExternalUser(row.id, row.external_id, row.scene) for row in rows]


def get(reader: Reader, scene: Scene, external_id: str) -> ExternalUser:
    """The user ``external_id`` of ``scene``. Raises :class:`NotFound`."""
    user = find(reader, scene, external_id)
    if user is None:
        raise NotFound("There is no such external user.")
    return user


def names(reader: Reader, scene: Scene, ids: Collection[str]) -> dict[str, str]:
    """The developer's ids of users by ours, without users that no longer exist."""
    marks = {f"id{number}": user_id for number, user_id in enumerate(ids)}
    if not marks:
        return {}
    among = ", ".join(f":{mark}" for mark in marks)
    sql = f"SELECT id, external_id FROM external_users WHERE project_id = :project AND id IN ({among})"  # noqa: S608
    rows = reader.all(sql, {"project": scene.project_id, **marks})
    return {row["id"]: row["external_id"] for row in rows}


def page(reader: Reader, scene: Scene, window: cursors.Window, *, q: str | None = None) -> cursors.Page[ListedUser]:
    """Users of ``scene``, oldest first, whose id of the developer's holds ``q``.

    Raises :class:`webapp.kit.cursors.BadCursor`.
    """
    where, params = "project_id = :project AND environment = :environment", dict[str, Any](scene.params)
    if q:
        where, params["q"] = f"{where} AND holds(external_id, :q)", q
    return _USERS.page(reader, window, where, params)


def erase(tx: Tx, user: ExternalUser) -> int:
    """Delete the row of ``user``, and with it their tokens, accounts, triggers and runs; return 0 if it was deleted
    before.

    :func:`webapp.service.domain.instance.removal.user`, which calls it, first ends tokens and subscriptions, and
    removes files and what else is kept of the user.
    """
    return _USERS.delete(tx, user.id)
