"""Keys and sealed fields (table ``data_keys``).

The instance key comes from ``PATCHBAY_SECRET_KEY`` or from the file ``keys`` in the data folder (mode 0600). It
wraps one data key for each project; a project's data key seals the secrets of its rows, with
project|table|row|field|version as additional data. A wrong instance key refuses to start.
"""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from webapp.kit import secrets
from webapp.kit.clock import Clock
from webapp.settings import Settings
from webapp.store.contract import Reader, Store, Tx

INSTANCE = "instance"
_PROOF = b"patchbay"


class WrongKey(RuntimeError):
    """The instance key does not open this database; set the PATCHBAY_SECRET_KEY or keys file it was made with."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


def load_instance_key(settings: Settings) -> bytes:
    """The instance key; made and saved when neither the setting nor the file is there yet."""
    if settings.secret_key:
        return secrets.derive(settings.secret_key.encode(), "instance")
    path = settings.data / "keys"
    settings.data.mkdir(parents=True, exist_ok=True)
    _create_key_file(path)
    return secrets.derive(path.read_bytes().strip(), "instance")


def _create_key_file(path: Path) -> None:
    """Write a fresh key unless there is one: whole or not at all, readable by the owner alone."""
    if path.exists():
        return
    draft = path.with_name(f".keys.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.new_key().hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # unlike a rename, this never replaces another process's key
    except FileExistsError:
        pass
    finally:
        draft.unlink()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sealed field stands; it opens nowhere else."""

    project_id: str
    table: str
    row: str
    field: str

    def context(self, version: int) -> str:
        """The additional data of AES-GCM."""
        return f"{self.project_id}|{self.table}|{self.row}|{self.field}|{version}"


class Keyring:
    """Seals and opens fields with the data keys of the projects. Safe to share between threads."""

    def __init__(self, store: Store, instance_key: bytes, clock: Clock) -> None:
        self._store, self._instance_key, self._clock = store, instance_key, clock
        self._keys: dict[tuple[str, int], bytes] = {}
        self._current: dict[str, int] = {}
        self._derived: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def prove(self) -> None:
        """Check the instance key against this database, or claim a new database for it. Raises :class:`WrongKey`."""
        with self._store.write() as tx:
            row = tx.one("SELECT wrapped FROM data_keys WHERE owner = :owner AND version = 1", {"owner": INSTANCE})
            if row is None:
                self._insert(tx, INSTANCE, 1, _PROOF)
                self._insert(tx, INSTANCE, 2, secrets.new_key())
                return
        self._unwrap(row["wrapped"], INSTANCE, 1)

    def derive(self, purpose: str) -> bytes:
        """A key of the whole installation for one purpose."""
        known = self._derived.get(purpose)
        if known is None:
            known = self._derived[purpose] = secrets.derive(self._instance_key, purpose)
        return known

    def add_project(self, tx: Tx, project_id: str) -> None:
        """Give a new project its first data key, in the transaction that makes it."""
        self._insert(tx, project_id, 1, secrets.new_key())

    def seal(self, place: Place, plain: bytes) -> tuple[bytes, int]:
        """``plain`` sealed with the project's current data key, and that key's version."""
        version, key = self._current_key(place.project_id)
        return secrets.seal(key, plain, place.context(version)), version

    def open(self, place: Place, sealed: bytes, version: int) -> bytes:
        """What was sealed at ``place``. Raises :class:`webapp.kit.secrets.CannotOpen`."""
        return secrets.open_sealed(self._key(place.project_id, version), sealed, place.context(version))

    def seal_box(self, place: Place, plain: bytes) -> bytes:
        """Like :meth:`seal`, for columns that keep the key's version in the box: two bytes before it."""
        sealed, version = self.seal(place, plain)
        return version.to_bytes(2, "big") + sealed

    def open_box(self, place: Place, box: bytes) -> bytes:
        """What :meth:`seal_box` was given. Raises :class:`webapp.kit.secrets.CannotOpen`."""
        return self.open(place, box[2:], int.from_bytes(box[:2], "big"))

    def _current_key(self, project_id: str) -> tuple[int, bytes]:
        version = self._current.get(project_id)
        if version is None:
            sql = "SELECT version FROM data_keys WHERE owner = :owner ORDER BY version DESC"
            row = self._store.one(sql, {"owner": project_id})
            if row is None:
                raise LookupError(f"{project_id} has no data key")
            version = self._current[project_id] = int(row["version"])
        return version, self._key(project_id, version)

    def _key(self, project_id: str, version: int) -> bytes:
        with self._lock:
            known = self._keys.get((project_id, version))
        if known is not None:
            return known
        key = self._load(self._store, project_id, version)
        with self._lock:
            self._keys[project_id, version] = key
        return key

    def _load(self, reader: Reader, owner: str, version: int) -> bytes:
        sql = "SELECT wrapped FROM data_keys WHERE owner = :owner AND version = :version"
        row = reader.one(sql, {"owner": owner, "version": version})
        if row is None:
            raise LookupError(f"{owner} has no data key {version}")
        return self._unwrap(row["wrapped"], owner, version)

    def _insert(self, tx: Tx, owner: str, version: int, plain: bytes) -> None:
        wrapped = secrets.seal(self.derive("wrap"), plain, f"data_keys|{owner}|{version}")
        tx.run(
            "INSERT INTO data_keys (owner, version, wrapped, created_at) VALUES (:owner, :version, :wrapped, :at)",
            {"owner": owner, "version": version, "wrapped": wrapped, "at": self._clock()},
        )

    def _unwrap(self, wrapped: bytes, owner: str, version: int) -> bytes:
        try:
            return secrets.open_sealed(self.derive("wrap"), wrapped, f"data_keys|{owner}|{version}")
        except secrets.CannotOpen as error:
            raise WrongKey from error
