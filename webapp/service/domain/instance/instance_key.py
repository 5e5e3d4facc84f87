"""Replaces the instance key, which wraps all data keys, while nothing runs.

Derived keys change with it: access tokens, signed cookies and forms, the secrets of the scripts' and the sandbox's
client, and the hashes of webhooks' addresses. The key file and the database cannot change atomically, so the new key
waits in ``keys.new``: whichever of the two opens the database is used (:func:`proven`).
"""

import os
from pathlib import Path

from webapp.errors import Invalid
from webapp.kit.clock import Clock
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.base import generations
from webapp.service.domain.base.keyring import (
    Keyring,
    WeakKey,
    WrongKey,
    create_key_file,
    is_claimed,
    is_weak,
    key_of,
    load_instance_key,
    read_key_file,
)
from webapp.service.domain.deliveries import endpoints
from webapp.settings import Settings
from webapp.store.contract import Store
from webapp.store.stores import exists, open_alone


def proven(settings: Settings, store: Store, clock: Clock) -> Keyring:
    """The keyring of the instance key, which opens the database; a new database gets one. Raises :class:`WrongKey`.

    An interrupted change of the key file is completed. A new database is refused with a key that can be guessed; an
    existing one is not.
    """
    new = not is_claimed(store)
    if new and settings.secret_key and is_weak(settings.secret_key):
        raise WeakKey
    keys = Keyring(store, load_instance_key(settings, new=new), clock)
    waiting = settings.data / "keys.new"
    try:
        keys.prove()
    except WrongKey:
        if settings.secret_key or not waiting.exists():
            raise
        keys = Keyring(store, read_key_file(waiting), clock)
        keys.prove()
        _put_in_place(settings.data)
    return keys


def rotate(settings: Settings, clock: Clock, new_secret: str | None = None) -> None:
    """Wrap all data keys with a new instance key: ``new_secret`` where ``PATCHBAY_SECRET_KEY`` is in use, else a file.

    Raises :class:`webapp.errors.Conflict` while Patchbay runs, :class:`Invalid`, :class:`WrongKey`.
    """
    if not exists(settings):
        raise Invalid(f"There is no database in {settings.data}; check PATCHBAY_DATA.")
    if settings.secret_key is not None and new_secret in (None, settings.secret_key):
        raise Invalid("Give a new key that differs from PATCHBAY_SECRET_KEY.")
    if new_secret and is_weak(new_secret):
        raise WeakKey
    with open_alone(settings) as store:
        generations.refuse_living(store, clock)
        keys = proven(settings, store, clock)
        new = _new_file_key(settings.data) if settings.secret_key is None else key_of(new_secret or "")
        with store.write() as tx:
            oauth_clients.derive_again(tx, keys.rewrap(tx, new))
            endpoints.forget_hashes(tx)
        if settings.secret_key is None:
            _put_in_place(settings.data)


def _new_file_key(data: Path) -> bytes:
    waiting = data / "keys.new"
    waiting.unlink(missing_ok=True)  # of a change that broke off before the database knew of it
    create_key_file(waiting)
    return read_key_file(waiting)


def _put_in_place(data: Path) -> None:
    (data / "keys.new").replace(data / "keys")
    descriptor = os.open(data, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
