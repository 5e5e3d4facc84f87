"""The file stash (table ``stashed_files``): files that a run wrote or a mail brought, kept sealed for some days.

A stash is a named set of files of one external user in one scene; whoever keeps the first file names it or has it
named. A file is found by its key (``<days>day/<project>/<environment>/<stash>/u/<file>/<name>``), or by a link that
works without a token for half an hour.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Detail, Invalid, NotFound, TooLarge
from webapp.kit.clock import DAY, MINUTE
from webapp.kit.crypto import new_id
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx

RUN_DAYS, MAIL_DAYS = 1, 7  # a delivery of the event that names an attachment may be tried for three days
LINK_LIFETIME = 30 * MINUTE
MAX_BYTES = 10 * 1024 * 1024
MAX_SCENE_BYTES = 500 * 1024 * 1024
MAX_NAME = 200
ANY_MEDIA = "application/octet-stream"
LINKS = "file-links"  # what the key that signs them is derived for
_STASH = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = re.compile(r"\d{1,3}day/([^/]+)/([^/]+)/([^/]+)/u/(file_[A-Za-z0-9]+)/([^/]+)", re.DOTALL)
_MEDIA = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")


SEALED = SealedColumn("stashed_files", "content_sealed", batch=5)  # files are large


@dataclass(frozen=True, slots=True)
class StashedFile:
    """A file of a stash, without its content. ``expires_at`` is in epoch milliseconds."""

    id: str
    scene: Scene
    external_id: str
    stash_id: str
    name: str
    media_type: str
    size: int
    expires_at: int
    days: int

    @property
    def key(self) -> str:
        """What a download asks for."""
        return (
            f"{self.days}day/{self.scene.project_id}/{self.scene.environment}/{self.stash_id}/u/{self.id}/{self.name}"
        )


def new_stash_id() -> str:
    """The id of a stash that holds nothing yet."""
    return new_id("stash")


def checked_stash_id(given: str | bool) -> str | None:
    """The stash that a run's ``stash_id`` means: a new one for true, "" and "NEW"; None for false. Raises Invalid."""
    if given is False:
        return None
    if given is True or given in ("", "NEW"):
        return new_stash_id()
    if not _STASH.fullmatch(given):
        message = "Send NEW, true, or a stash_id that an earlier run answered."
        raise Invalid(f"stash_id is not valid: {message}", [Detail("stash_id", message)])
    return given


def keep(
    service: Service,
    tx: Tx,
    scene: Scene,
    external_id: str,
    stash_id: str | None,
    name: str,
    media_type: str,
    content: bytes,
    days: int = RUN_DAYS,
) -> str:
    """Keep one file for ``days``, in a stash of its own without a ``stash_id``; its key (``s3_key``).

    The name is cleaned: nothing in it can leave a folder or hide an ending. Raises :class:`TooLarge` for more than
    :data:`MAX_BYTES`, and when the scene holds :data:`MAX_SCENE_BYTES` already.
    """
    if len(content) > MAX_BYTES:
        raise TooLarge(f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are kept.")
    if _held(tx, scene) + len(content) > MAX_SCENE_BYTES:
        raise TooLarge("The file stash of this environment is full; its files go some days after they came.")
    now, file_id = service.clock(), new_id("file")
    media_type = media_type.lower() if _MEDIA.fullmatch(media_type.lower()) else ANY_MEDIA
    stash, size = stash_id or new_stash_id(), len(content)
    file = StashedFile(file_id, scene, external_id, stash, clean_name(name), media_type, size, now + days * DAY, days)
    tx.run(
        "INSERT INTO stashed_files (id, stash_id, project_id, environment, external_id, name, media_type, size, "
        "content_sealed, created_at, expires_at) VALUES (:id, :stash, :project, :environment, :external_id, :name, "
        ":media_type, :size, :sealed, :now, :expires)",
        {
            **_place_of(scene),
            "id": file_id,
            "stash": file.stash_id,
            "external_id": external_id,
            "name": file.name,
            "media_type": media_type,
            "size": file.size,
            "sealed": SEALED.seal(service, tx, scene.project_id, file_id, content),
            "now": now,
            "expires": file.expires_at,
        },
    )
    return file.key


def find(service: Service, scene: Scene, s3_key: str) -> tuple[StashedFile, bytes]:
    """The file under ``s3_key`` of ``scene`` and its content. Raises :class:`NotFound`, also once it is too old."""
    parts = _KEY.fullmatch(s3_key)
    row = _row(service, parts[4]) if parts else None
    file = _file(row) if row else None
    if row is None or file is None or file.key != s3_key or file.scene != scene:
        raise NotFound("There is no such file, or its days are over.")
    return file, _content(service, scene, row)


def link(service: Service, s3_key: str) -> str:
    """A URL that downloads the file under ``s3_key`` without a token, for :data:`LINK_LIFETIME`."""
    ticket = _links(service).dumps([s3_key, service.clock() + LINK_LIFETIME])
    shown = ticket if isinstance(ticket, str) else ticket.decode()
    return f"{service.settings.public_url}/v1/files/{shown}"


def follow(service: Service, ticket: str) -> tuple[StashedFile, bytes]:
    """The file that a :func:`link` leads to. Raises :class:`NotFound`, also once the link is too old."""
    try:
        s3_key, until = _links(service).loads(ticket)
    except (BadData, ValueError, TypeError) as error:
        raise NotFound("This link leads to no file.") from error
    parts = _KEY.fullmatch(s3_key)
    if parts is None or until <= service.clock():
        raise NotFound("This link has expired; run again, or download the file by its s3_key.")
    return find(service, Scene(parts[1], "production" if parts[2] == "production" else "development"), s3_key)


def of_stash(service: Service, scene: Scene, external_id: str, stash_id: str) -> Iterator[tuple[StashedFile, bytes]]:
    """The files of a user's stash, oldest first, with their content."""
    rows = service.store.all(
        "SELECT * FROM stashed_files WHERE project_id = :project AND environment = :environment "
        "AND external_id = :external_id AND stash_id = :stash AND expires_at > :now ORDER BY created_at, id",
        {**_place_of(scene), "external_id": external_id, "stash": stash_id, "now": service.clock()},
    )
    return ((_file(row), _content(service, scene, row)) for row in rows)


def drop_user(tx: Tx, scene: Scene, external_id: str) -> int:
    """Forget every file of one external user; how many there were."""
    return tx.run(
        "DELETE FROM stashed_files WHERE project_id = :project AND environment = :environment "
        "AND external_id = :external_id",
        {**_place_of(scene), "external_id": external_id},
    )


def purge(service: Service) -> int:
    """Forget the files whose days are over; how many there were."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM stashed_files WHERE expires_at <= :now", {"now": service.clock()})


def clean_name(name: str) -> str:
    """``name`` as a file may be called anywhere: one part of a path, printable, not hidden, of a bearable length."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(char if char.isprintable() and char not in '<>:"|?*' else "_" for char in last).strip(" .")
    if len(shown) > MAX_NAME:
        stem, dot, ending = shown.rpartition(".")
        short = dot and len(ending) <= 20
        shown = f"{stem[: MAX_NAME - len(ending) - 1]}.{ending}" if short else shown[:MAX_NAME]
    return shown or "file"


def _row(service: Service, file_id: str) -> Row | None:
    sql = "SELECT * FROM stashed_files WHERE id = :id AND expires_at > :now"
    return service.store.one(sql, {"id": file_id, "now": service.clock()})


def _content(service: Service, scene: Scene, row: Row) -> bytes:
    try:
        return SEALED.open(service, scene.project_id, row["id"], row["content_sealed"])
    except KeyGone as error:
        raise NotFound("There is no such file, or its days are over.") from error


def _held(reader: Reader, scene: Scene) -> int:
    sql = "SELECT SUM(size) AS n FROM stashed_files WHERE project_id = :project AND environment = :environment"
    row = reader.one(sql, _place_of(scene))
    return int(row["n"] or 0) if row else 0


def _links(service: Service) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive(LINKS), salt="file")


def _place_of(scene: Scene) -> dict[str, Any]:
    return {"project": scene.project_id, "environment": scene.environment}


def _file(row: Row) -> StashedFile:
    scene = Scene(row["project_id"], row["environment"])
    facts = {name: row[name] for name in ("external_id", "stash_id", "name", "media_type", "size", "expires_at")}
    return StashedFile(row["id"], scene, **facts, days=(row["expires_at"] - row["created_at"]) // DAY)
