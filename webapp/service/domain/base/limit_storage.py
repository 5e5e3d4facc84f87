"""Where rate limits are counted: the storages of the library ``limits``, by address.

What counts in memory is :mod:`rate_limits`'s and :mod:`shared_counters`'s own. Whether a storage answers is not
asked when it is opened: a service starts while it is away.
"""

import importlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from webapp.setting_values import BadSetting

if TYPE_CHECKING:  # it takes time and memory, and most count in memory
    from limits.errors import ConfigurationError, StorageError
    from limits.storage import Storage

MEMORY = "memory://"
_TIMEOUT_S = 1.0
_SINGLE = ("redis", "rediss", "redis+unix", "valkey", "valkeys", "valkey+unix")


def failure() -> "type[StorageError]":
    """What a storage raises that does not answer."""
    from limits.errors import StorageError

    return StorageError


def opened(address: str) -> "Storage":
    """The storage at ``address`` (PATCHBAY_LIMITS_STORAGE). Raises :class:`BadSetting`."""
    from limits.errors import ConfigurationError
    from limits.storage import Storage, storage_from_string

    scheme, separator, _ = address.partition("://")
    if not separator:  # it is not repeated: it may be a password
        raise BadSetting("PATCHBAY_LIMITS_STORAGE is no kind of storage; use redis://host:6379, for example.")
    try:
        storage = storage_from_string(address, wrap_exceptions=True, **_options(scheme))
    except ConfigurationError as error:
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE cannot be used: {_reason(scheme, error)}") from error
    except Exception as error:
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE is not an address that {scheme} understands.") from error
    if not isinstance(storage, Storage):
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE cannot begin with {scheme}; leave out async+.")
    return storage


def answers(storage: "Storage") -> bool:
    """Whether ``storage`` answers now."""
    try:
        return bool(storage.check())
    except Exception:  # whatever the storage's own client raises
        return False


def _options(scheme: str) -> dict[str, Any]:
    """A storage that hangs or is away must not hold a thread for long. What broke with a connection is tried again on a
    new one, at once and once."""
    kind = next((kind for kind in ("redis", "valkey") if scheme.startswith(kind)), None)
    if kind is None:
        return {}
    options: dict[str, Any] = {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S}
    if scheme in _SINGLE:
        with suppress(ImportError):  # the library says what is missing
            retry, backoff = (importlib.import_module(f"{kind}.{name}") for name in ("retry", "backoff"))
            options["retry"] = retry.Retry(backoff.NoBackoff(), 1)
    return options


def _reason(scheme: str, error: "ConfigurationError") -> str:
    if "unknown storage scheme" in str(error):
        return f"{scheme or 'it'} is no kind of storage; use memory:// or redis://host:6379, for example."
    return f"{scheme} needs a Python package that is not installed: pip install 'limits[{scheme.partition('+')[0]}]'."
