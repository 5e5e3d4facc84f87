"""The file stash (table ``stashed_files``): files of a run or a mail, stored sealed for some days.

A stash is a named set of files of one external user in one scene, named with its first file. A file is found by its key
(``<days>day/<project>/<environment>/<stash>/u/<file>/<name>``), or by a link that works without a token for half an
hour.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Detail, Invalid, NotFound, TooLarge
from webapp.kit.clock import DAY, MINUTE
from webapp.kit.crypto import new_id
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

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
_GONE = "There is no such file, or its days are over."
SEALED = SealedColumn("stashed_files", "content_sealed", batch=5)  # files are large


@dataclass(frozen=True, slots=True)
class StashedFile:
    """A file of a stash, without its content. Times are in epoch milliseconds."""

    id: str
    scene: Scene
    external_id: str
    stash_id: str
    name: str
    media_type: str
    size: int
    created_at: int
    expires_at: int

    @property
    def key(self) -> str:
        """The key in a download's request."""
        days, scene = (self.expires_at - self.created_at) // DAY, self.scene
        return f"{days}day/{scene.project_id}/{scene.environment}/{self.stash_id}/u/{self.id}/{self.name}"


_FILES = Table("stashed_files", StashedFile, write_only=("content_sealed",))


def new_stash_id() -> str:
    """The id of a new, empty stash."""
    return new_id("stash")


def checked_stash_id(value: str | bool) -> str | None:
    """The stash that a run's ``stash_id`` means: a new one for true, "" and "NEW"; None for false. Raises Invalid."""
    if value is False:
        return None
    if value is True or value in ("", "NEW"):
        return new_stash_id()
    if not _STASH.fullmatch(value):
        message = "Send NEW, true, or a stash_id that an earlier run answered."
        raise Invalid(f"stash_id is not valid: {message}", [Detail("stash_id", message)])
    return value


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
    """Store one file for ``days``, in a new stash without a ``stash_id``; return its key (``s3_key``).

    The name is cleaned, so that it cannot leave a folder or hide an extension. Raises :class:`TooLarge` for more than
    :data:`MAX_BYTES`, and if the scene has :data:`MAX_SCENE_BYTES` already.
    """
    if len(content) > MAX_BYTES:
        raise TooLarge(f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are kept.")
    if _held(tx, scene) + len(content) > MAX_SCENE_BYTES:
        raise TooLarge("The file stash of this environment is full; its files go some days after they came.")
    now, file_id, stash = service.clock(), new_id("file"), stash_id or new_stash_id()
    media_type = media_type.lower() if _MEDIA.fullmatch(media_type.lower()) else ANY_MEDIA
    facts = (clean_name(name), media_type, len(content), now, now + days * DAY)
    file = StashedFile(file_id, scene, external_id, stash, *facts)
    _FILES.insert(tx, file, content_sealed=SEALED.seal(service, tx, scene.project_id, file_id, content))
    return file.key


def find(service: Service, scene: Scene, s3_key: str) -> tuple[StashedFile, bytes]:
    """The file under ``s3_key`` of ``scene`` and its content. Raises :class:`NotFound`, also once it is too old."""
    parts = _KEY.fullmatch(s3_key)
    params = {"id": parts[4] if parts else "", "now": service.clock()}
    file = _FILES.one(service.store, "id = :id AND expires_at > :now", params)
    if file is None or file.key != s3_key or file.scene != scene:
        raise NotFound(_GONE)
    return file, _content(service, file)


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
    files = _FILES.all(
        service.store,
        "project_id = :project AND environment = :environment AND external_id = :external_id AND stash_id = :stash "
        "AND expires_at > :now ORDER BY created_at, id",
        {**scene.params, "external_id": external_id, "stash": stash_id, "now": service.clock()},
    )
    for file in files:
        with suppress(NotFound):  # it went since the list was read
            yield file, _content(service, file)


def drop_user(tx: Tx, scene: Scene, external_id: str) -> int:
    """Forget every file of one external user; how many there were."""
    return tx.run(
        "DELETE FROM stashed_files WHERE project_id = :project AND environment = :environment "
        "AND external_id = :external_id",
        {**scene.params, "external_id": external_id},
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


def _content(service: Service, file: StashedFile) -> bytes:
    row = service.store.one("SELECT content_sealed AS sealed FROM stashed_files WHERE id = :id", {"id": file.id})
    try:
        if row is not None:
            return SEALED.open(service, file.scene.project_id, file.id, row["sealed"])
    except KeyGone as error:
        raise NotFound(_GONE) from error
    raise NotFound(_GONE)


def _held(reader: Reader, scene: Scene) -> int:
    sql = "SELECT SUM(size) AS n FROM stashed_files WHERE project_id = :project AND environment = :environment"
    row = reader.one(sql, scene.params)
    return int(row["n"] or 0) if row else 0


def _links(service: Service) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive(LINKS), salt="file")
