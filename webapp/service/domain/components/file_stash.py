"""The file stash (table ``stashed_files``): files of a run or a mail, or that a user uploaded, stored sealed for days.

A stash is a named set of files of one external user in one scene, named with its first file. A file is found by its id,
by its key (``<days>day/<project>/<environment>/<stash>/u/<file>/<name>``), or by a link that works without a token for
half an hour. A link of the other direction takes the content of one file that was announced (:func:`upload_link`).
"""

import mimetypes
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from webapp import body_limits
from webapp.errors import Conflict, Detail, Invalid, NotFound, TooLarge
from webapp.kit.clock import DAY, MINUTE, iso
from webapp.kit.crypto import new_id
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

RUN_DAYS, MAIL_DAYS = 1, 7  # a delivery of the event that names an attachment may be tried for three days
LINK_LIFETIME = 30 * MINUTE
MAX_BYTES = body_limits.FILE
MAX_SCENE_BYTES = 500 * 1024 * 1024
MAX_USER_BYTES = 100 * 1024 * 1024
"""What one external user may have uploaded at a time, so that one cannot fill the environment's stash."""
MAX_NAME = 200
ANY_MEDIA = "application/octet-stream"
LINKS = "file-links"  # what the key that signs them is derived for
_STASH = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = re.compile(r"\d{1,3}day/([^/]+)/([^/]+)/([^/]+)/u/(file_[A-Za-z0-9]+)/([^/]+)", re.DOTALL)
_MEDIA = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_ID = re.compile(r"file_[A-Za-z0-9]+")
_GONE = "There is no such file, or its days are over."
UPLOADS = "upload-links"
EMPTY = "The file is empty. Choose one with content."
OVERSIZED = "The file is larger than 10 MiB (10,485,760 bytes), which is the most that is taken. Send a smaller one."
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

    def to_json(self, service: Service) -> dict[str, Any]:
        """The file as the API shows it, with a new link."""
        return {
            "id": self.id,
            "s3_key": self.key,
            "stash_id": self.stash_id,
            "external_user_id": self.external_id,
            "name": self.name,
            "content_type": self.media_type,
            "size": self.size,
            "created_at": iso(self.created_at),
            "expires_at": iso(self.expires_at),
            "get_url": link(service, self.key),
        }


@dataclass(frozen=True, slots=True)
class Announced:
    """A file whose content comes by an :func:`upload_link`: its id is known before."""

    id: str
    scene: Scene
    external_id: str
    name: str


_FILES = Table("stashed_files", StashedFile, write_only=("content_sealed",))


def new_stash_id() -> str:
    """The id of a new, empty stash."""
    return new_id("stash")


def checked_stash_id(value: object) -> str | None:
    """The stash that a ``stash_id`` means: a new one for true, "" and "NEW"; none for false or None. Raises Invalid."""
    if value is None or value is False:
        return None
    if value is True or value in ("", "NEW"):
        return new_stash_id()
    if not isinstance(value, str) or not _STASH.fullmatch(value):
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
    return _added(service, tx, new_id("file"), scene, external_id, stash_id, name, media_type, content, days).key


def upload(
    service: Service,
    scene: Scene,
    external_id: str,
    name: str,
    content: bytes,
    *,
    stash_id: str | None = None,
    file_id: str | None = None,
) -> StashedFile:
    """Store a file that a user gave for :data:`RUN_DAYS`, in a new stash without a ``stash_id``.

    Its media type is that of its name's ending, whatever the sender says. Raises :class:`Invalid` for an empty file,
    :class:`TooLarge` for one of more than :data:`MAX_BYTES` and if the user has :data:`MAX_USER_BYTES` already, and
    :class:`Conflict` for a ``file_id`` that is used.
    """
    if not content:
        raise Invalid.of("file", EMPTY)
    if len(content) > MAX_BYTES:
        raise TooLarge(OVERSIZED)
    name = clean_name(name)
    media_type = mimetypes.guess_type(name)[0] or ANY_MEDIA
    with service.store.write() as tx:
        if file_id is not None and _FILES.get(tx, file_id) is not None:
            raise Conflict("This file is here already; ask for another address to upload to.")
        if _held(tx, scene, external_id) + len(content) > MAX_USER_BYTES:
            most = MAX_USER_BYTES // 2**20
            raise TooLarge(f"One user may keep {most} MiB of files. Remove some; the others are deleted after a day.")
        own_id = file_id or new_id("file")
        return _added(service, tx, own_id, scene, external_id, stash_id, name, media_type, content, RUN_DAYS)


def _added(
    service: Service,
    tx: Tx,
    file_id: str,
    scene: Scene,
    external_id: str,
    stash_id: str | None,
    name: str,
    media_type: str,
    content: bytes,
    days: int,
) -> StashedFile:
    """Store a file. Raises :class:`TooLarge` if the scene has no room for it."""
    if _held(tx, scene) + len(content) > MAX_SCENE_BYTES:
        raise TooLarge("The file stash of this environment is full; its files go some days after they came.")
    now, stash = service.clock(), stash_id or new_stash_id()
    media_type = media_type.lower() if _MEDIA.fullmatch(media_type.lower()) else ANY_MEDIA
    facts = (clean_name(name), media_type, len(content), now, now + days * DAY)
    file = StashedFile(file_id, scene, external_id, stash, *facts)
    _FILES.insert(tx, file, content_sealed=SEALED.seal(service, tx, scene.project_id, file_id, content))
    return file


def is_reference(text: str) -> bool:
    """Whether ``text`` is the id or the key of a file of the stash, there or not."""
    return bool(_ID.fullmatch(text) or _KEY.fullmatch(text))


def get(service: Service, scene: Scene, external_id: str | None, reference: str) -> StashedFile:
    """The file with that id or key, of ``scene`` and, if given, of one external user. Raises :class:`NotFound`."""
    parts = _KEY.fullmatch(reference)
    params = {"id": parts[4] if parts else reference, "now": service.clock()}
    file = _FILES.one(service.store, "id = :id AND expires_at > :now", params)
    if file is None or file.scene != scene or external_id not in (None, file.external_id):
        raise NotFound(_GONE)
    if parts and file.key != reference:
        raise NotFound(_GONE)
    return file


def content_of(service: Service, file: StashedFile) -> bytes:
    """The content of ``file``. Raises :class:`NotFound` if it was deleted meanwhile."""
    row = service.store.one("SELECT content_sealed AS sealed FROM stashed_files WHERE id = :id", {"id": file.id})
    try:
        if row is not None:
            return SEALED.open(service, file.scene.project_id, file.id, row["sealed"])
    except KeyGone as error:
        raise NotFound(_GONE) from error
    raise NotFound(_GONE)


def remove(service: Service, file: StashedFile) -> None:
    """Delete ``file`` before its days are over."""
    with service.store.write() as tx:
        tx.run("DELETE FROM stashed_files WHERE id = :id", {"id": file.id})


def announce(scene: Scene, external_id: str, name: str) -> Announced:
    """A file that will be uploaded, by its :func:`upload_link`."""
    return Announced(new_id("file"), scene, external_id, clean_name(name))


def upload_link(service: Service, file: Announced) -> str:
    """A URL that takes the content of ``file`` once, without a token, for :data:`LINK_LIFETIME`."""
    until = service.clock() + LINK_LIFETIME
    scene = file.scene
    ticket = _ticket(
        service, UPLOADS, [file.id, scene.project_id, scene.environment, file.external_id, file.name, until]
    )
    return f"{service.settings.public_url}/v1/uploads/{ticket}"


def announced(service: Service, ticket: str) -> Announced:
    """The file that an :func:`upload_link` takes. Raises :class:`NotFound`, also once the link is too old."""
    try:
        file_id, project_id, environment, external_id, name, until = _signer(service, UPLOADS).loads(ticket)
    except (BadData, ValueError, TypeError) as error:
        raise NotFound("This link takes no file.") from error
    if until <= service.clock():
        raise NotFound("This link has expired; ask for another one.")
    scene = Scene(project_id, "production" if environment == "production" else "development")
    return Announced(file_id, scene, external_id, name)


def find(service: Service, scene: Scene, s3_key: str) -> tuple[StashedFile, bytes]:
    """The file under ``s3_key`` of ``scene`` and its content. Raises :class:`NotFound`, also once it is too old."""
    if not _KEY.fullmatch(s3_key):
        raise NotFound(_GONE)
    file = get(service, scene, None, s3_key)
    return file, content_of(service, file)


def link(service: Service, s3_key: str) -> str:
    """A URL that downloads the file under ``s3_key`` without a token, for :data:`LINK_LIFETIME`."""
    ticket = _ticket(service, LINKS, [s3_key, service.clock() + LINK_LIFETIME])
    return f"{service.settings.public_url}/v1/files/{ticket}"


def follow(service: Service, ticket: str) -> tuple[StashedFile, bytes]:
    """The file that a :func:`link` leads to. Raises :class:`NotFound`, also once the link is too old."""
    try:
        s3_key, until = _signer(service, LINKS).loads(ticket)
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
            yield file, content_of(service, file)


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


def _held(reader: Reader, scene: Scene, external_id: str | None = None) -> int:
    """The bytes that are kept of ``scene``, or of one external user there."""
    sql = "SELECT SUM(size) AS n FROM stashed_files WHERE project_id = :project AND environment = :environment"
    if external_id is None:
        row = reader.one(sql, scene.params)
    else:
        params = {**scene.params, "external_id": external_id, "longest": RUN_DAYS * DAY}
        row = reader.one(f"{sql} AND external_id = :external_id AND expires_at - created_at <= :longest", params)
    return int(row["n"] or 0) if row else 0


def _ticket(service: Service, purpose: str, facts: list[Any]) -> str:
    ticket = _signer(service, purpose).dumps(facts)
    return ticket if isinstance(ticket, str) else ticket.decode()


def _signer(service: Service, purpose: str) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive(purpose), salt="file")
