"""The instance key, from ``PATCHBAY_SECRET_KEY`` or from the file ``keys`` in the data folder (mode 0600).

It wraps the data keys of the projects (:mod:`keyring`), and everything that is derived follows from it.
"""

import os
import time
from pathlib import Path

from webapp.kit import crypto
from webapp.kit.scratch import YOUNG_S
from webapp.settings import Settings


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
    """The instance key. Where there is neither the setting nor the file, one is made and saved if ``new`` allows it.

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
    """The instance key that a value of ``PATCHBAY_SECRET_KEY`` gives."""
    return crypto.derive(secret_key.encode(), "instance")


def read_key_file(path: Path) -> bytes:
    """The instance key in the file ``path``."""
    return crypto.derive(path.read_bytes().strip(), "instance")


def create_key_file(path: Path) -> None:
    """Write a fresh key unless there is one: whole or not at all, readable by the owner alone."""
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
