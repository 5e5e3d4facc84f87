"""Where rate limits are counted: the storages of the library ``limits``, by address.

What counts in memory is :mod:`rate_limits`'s own.
"""

from typing import TYPE_CHECKING

from webapp.settings import BadSetting

if TYPE_CHECKING:  # it takes time and memory, and most count in memory
    from limits.errors import ConfigurationError, StorageError
    from limits.storage import Storage

MEMORY = "memory://"
_TIMEOUT_S = 1.0


def failure() -> "type[StorageError]":
    """What a storage raises that does not answer."""
    from limits.errors import StorageError

    return StorageError


def opened(address: str) -> "Storage":
    """The storage at ``address`` (PATCHBAY_LIMITS_STORAGE). Raises :class:`BadSetting`."""
    from limits.errors import ConfigurationError
    from limits.storage import Storage, storage_from_string

    scheme = address.partition("://")[0]
    try:
        storage = storage_from_string(address, wrap_exceptions=True, **_options(scheme))
    except ConfigurationError as error:
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE cannot be used: {_reason(scheme, error)}") from error
    except Exception as error:
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE is not an address that {scheme} understands.") from error
    if not isinstance(storage, Storage):
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE cannot begin with {scheme}; leave out async+.")
    if not _answers(storage):
        raise BadSetting("PATCHBAY_LIMITS_STORAGE names a storage that does not answer; start it, or correct it.")
    return storage


def _options(scheme: str) -> dict[str, float | str | bool]:
    """A storage that hangs must not hold a thread for long."""
    if scheme.startswith(("redis", "rediss", "valkey")):
        return {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S}
    return {}


def _reason(scheme: str, error: "ConfigurationError") -> str:
    if "unknown storage scheme" in str(error):
        return f"{scheme or 'it'} is no kind of storage; use memory:// or redis://host:6379, for example."
    return f"{scheme} needs a Python package that is not installed: pip install 'limits[{scheme.partition('+')[0]}]'."


def _answers(storage: "Storage") -> bool:
    try:
        return bool(storage.check())
    except Exception:  # whatever the storage's own client raises
        return False
