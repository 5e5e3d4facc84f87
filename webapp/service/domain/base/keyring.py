"""The keyring (table ``data_keys``): the data keys that seal secrets, and the instance key that wraps them.

The instance key comes from ``PATCHBAY_SECRET_KEY`` or from the file ``keys`` in the data folder (mode 0600). All
derived keys depend on it. When an operator chooses one, ``zxcvbn`` estimates the number of guesses it needs, since a
long key can be a repeated word. A service with a wrong instance key does not start.

A project's newest data key seals the secrets of its rows, with project|table|row|field|version as additional data.
Sealing takes place inside the transaction that writes the sealed value, with the version that is newest there: once a
new version is committed, no process seals with an older one (:mod:`instance.rotation` relies on it).
"""

import functools
import hmac
import math
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from webapp.errors import NotFound
from webapp.kit import crypto
from webapp.kit.clock import Clock
from webapp.kit.scratch import YOUNG_S
from webapp.settings import Settings
from webapp.store.contract import Reader, Store, Tx

LEAST_BITS = 64
_READ = 72  # characters that the library looks at
INSTANCE = "instance"
_PROOF = b"patchbay"
_OLD = (
    "NOT (owner = 'instance' AND version = 1) "  # the proof of the instance key, which seals nothing
    "AND version < (SELECT MAX(version) FROM data_keys AS newer WHERE newer.owner = data_keys.owner)"
)


class WrongKey(RuntimeError):
    """The instance key does not open this database; set the PATCHBAY_SECRET_KEY or keys file it was made with."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)


class MissingKey(WrongKey):
    """The key file is not there."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is missing, and nothing else opens the database beside it. Put it back from where you keep it, or "
            "set the PATCHBAY_SECRET_KEY that the database was made with; Patchbay never replaces it."
        )


def load_instance_key(settings: Settings, *, new: bool) -> bytes:
    """Return the instance key. Without the setting and the file, create and save one if ``new`` allows it.

    Raises :class:`MissingKey`.
    """
    if settings.secret_key:
        return key_of(settings.secret_key)
    path = settings.data / "keys"
    if new:
        create_key_file(path)
    try:
        return read_key_file(path)
    except FileNotFoundError as error:
        raise MissingKey(path) from error


def key_of(secret_key: str) -> bytes:
    """The instance key for a value of ``PATCHBAY_SECRET_KEY``."""
    return crypto.derive(secret_key.encode(), "instance")


def read_key_file(path: Path) -> bytes:
    """The instance key in the file ``path``."""
    return crypto.derive(path.read_bytes().strip(), "instance")


def create_key_file(path: Path) -> None:
    """Write a new key atomically if there is none, readable only by its owner."""
    if path.exists():
        return
    draft = path.with_name(f".keys.{os.getpid()}")
    for left in path.parent.glob(".keys.*"):
        if time.time() - left.stat().st_mtime > YOUNG_S:  # of one that was killed
            left.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(crypto.new_key().hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # unlike a rename, this never replaces another process's key
    except FileExistsError:
        pass
    finally:
        draft.unlink()


class WeakKey(WrongKey):
    """PATCHBAY_SECRET_KEY can be guessed; `openssl rand -hex 32` makes a good one."""


@functools.lru_cache(maxsize=8)
def is_weak(secret_key: str) -> bool:
    """Whether fewer than 2**64 guesses find ``secret_key``."""
    from zxcvbn import zxcvbn  # type: ignore[import-untyped]  # it carries no types

    return math.log2(zxcvbn(secret_key[:_READ])["guesses"]) < LEAST_BITS


class KeyGone(LookupError):
    """The data key was deleted by a rotation, which has sealed its values again: read the row again."""


class ProjectGone(NotFound, LookupError):
    """There is no such project."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a sealed field; the value cannot be opened with another."""

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
        self._store, self._clock = store, clock
        self._keys: dict[tuple[str, int], bytes] = {}
        self.derive = functools.cache(functools.partial(crypto.derive, instance_key))
        """A key of the whole installation for one purpose, which is its argument."""
        self._lock = threading.Lock()

    def keyed_hash(self, purpose: str, text: str) -> str:
        """A hash to find a sealed ``text`` by; without the instance key, texts cannot be tried against it."""
        return hmac.digest(self.derive(purpose), text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def prove(self) -> None:
        """Check the instance key against this database, or claim a new database for it. Raises :class:`WrongKey`."""
        with self._store.write() as tx:
            row = tx.one("SELECT wrapped FROM data_keys WHERE owner = :owner AND version = 1", {"owner": INSTANCE})
            if row is None:
                self._insert(tx, INSTANCE, 1, _PROOF)
                self._insert(tx, INSTANCE, 2, crypto.new_key())
                return
        self._unwrap(row["wrapped"], INSTANCE, 1)

    def add_project(self, tx: Tx, project_id: str) -> None:
        """Give a new project its first data key, in the transaction that makes it."""
        self._insert(tx, project_id, 1, crypto.new_key())

    def forget_project(self, tx: Tx, project_id: str) -> None:
        """Delete the data keys of a project that is deleted, so that its sealed values cannot be opened."""
        params = {"owner": project_id}
        tx.run("UPDATE data_keys SET wrapped = :blank WHERE owner = :owner", {**params, "blank": bytes(64)})
        tx.run("DELETE FROM data_keys WHERE owner = :owner", params)
        with self._lock:
            self._keys = {known: key for known, key in self._keys.items() if known[0] != project_id}

    def add_version(self, tx: Tx, owner: str) -> int:
        """A new data key for ``owner``, with which everything is sealed from this transaction on; its version."""
        version = self.newest(tx, owner) + 1
        self._insert(tx, owner, version, crypto.new_key())
        return version

    def owners(self, reader: Reader) -> list[str]:
        """All owners of data keys: the projects and the installation."""
        return [owner for (owner,) in reader.tuples("SELECT DISTINCT owner FROM data_keys ORDER BY owner")]

    def has_old_versions(self, reader: Reader) -> bool:
        """Whether an owner has data keys other than the newest."""
        return bool(reader.tuples(f"SELECT 1 FROM data_keys WHERE {_OLD} LIMIT 1"))  # noqa: S608

    def drop_old_versions(self, tx: Tx) -> None:
        """Delete all data keys but the newest, and overwrite them first, so that no free page of the database
        contains them.
        """
        tx.run(f"UPDATE data_keys SET wrapped = :blank WHERE {_OLD}", {"blank": bytes(64)})  # noqa: S608
        tx.run(f"DELETE FROM data_keys WHERE {_OLD}")  # noqa: S608

    def newest(self, reader: Reader, owner: str) -> int:
        """The version of the data key that seals for ``owner``. Raises :class:`ProjectGone`."""
        row = reader.one("SELECT MAX(version) AS version FROM data_keys WHERE owner = :owner", {"owner": owner})
        if row is None or row["version"] is None:
            raise ProjectGone
        return int(row["version"])

    def rewrap(self, tx: Tx, instance_key: bytes) -> "Keyring":
        """Wrap every data key with another instance key; the keyring of that key. The data keys stay what they are."""
        other = Keyring(self._store, instance_key, self._clock)
        for row in tx.all("SELECT owner, version, wrapped FROM data_keys"):
            owner, version = row["owner"], row["version"]
            tx.run(
                "UPDATE data_keys SET wrapped = :wrapped WHERE owner = :owner AND version = :version",
                {
                    "wrapped": other._wrap(self._unwrap(row["wrapped"], owner, version), owner, version),
                    "owner": owner,
                    "version": version,
                },
            )
        return other

    def seal(self, tx: Tx, place: Place, plain: bytes) -> tuple[bytes, int]:
        """``plain`` sealed with the project's newest data key, and that key's version.

        ``tx`` is the transaction that writes it down, so that no rotation passes between the two.
        """
        version = self.newest(tx, place.project_id)
        return crypto.seal(self._key(tx, place.project_id, version), plain, place.context(version)), version

    def open(self, place: Place, sealed: bytes, version: int) -> bytes:
        """Return the plain value that was sealed at ``place``.

        Raises :class:`webapp.kit.crypto.CannotOpen`, :class:`KeyGone`, :class:`ProjectGone`.
        """
        return crypto.open_sealed(self._key(self._store, place.project_id, version), sealed, place.context(version))

    def seal_box(self, tx: Tx, place: Place, plain: bytes) -> bytes:
        """Like :meth:`seal`, for columns that keep the key's version in the box: two bytes before it."""
        sealed, version = self.seal(tx, place, plain)
        return version.to_bytes(2, "big") + sealed

    def open_box(self, place: Place, box: bytes) -> bytes:
        """Return the value that :meth:`seal_box` sealed. Raises like :meth:`open`."""
        return self.open(place, box[2:], box_version(box))

    def _key(self, reader: Reader, owner: str, version: int) -> bytes:
        with self._lock:
            known = self._keys.get((owner, version))
        if known is not None:
            return known
        sql = "SELECT wrapped FROM data_keys WHERE owner = :owner AND version = :version"
        row = reader.one(sql, {"owner": owner, "version": version})
        if row is None:
            self.newest(reader, owner)
            raise KeyGone(f"{owner} has no data key {version}")
        key = self._unwrap(row["wrapped"], owner, version)
        with self._lock:
            self._keys[owner, version] = key
        return key

    def _insert(self, tx: Tx, owner: str, version: int, plain: bytes) -> None:
        wrapped = self._wrap(plain, owner, version)
        tx.run(
            "INSERT INTO data_keys (owner, version, wrapped, created_at) VALUES (:owner, :version, :wrapped, :at)",
            {"owner": owner, "version": version, "wrapped": wrapped, "at": self._clock()},
        )

    def _wrap(self, plain: bytes, owner: str, version: int) -> bytes:
        return crypto.seal(self.derive("wrap"), plain, f"data_keys|{owner}|{version}")

    def _unwrap(self, wrapped: bytes, owner: str, version: int) -> bytes:
        try:
            return crypto.open_sealed(self.derive("wrap"), wrapped, f"data_keys|{owner}|{version}")
        except crypto.CannotOpen as error:
            raise WrongKey from error


def is_claimed(reader: Reader) -> bool:
    """Whether an instance key was verified with this database; no other may replace it."""
    return bool(reader.tuples("SELECT 1 FROM data_keys WHERE owner = :owner LIMIT 1", {"owner": INSTANCE}))


def box_version(box: bytes) -> int:
    """The version of the data key that sealed ``box`` (see :meth:`Keyring.seal_box`)."""
    return int.from_bytes(box[:2], "big")
