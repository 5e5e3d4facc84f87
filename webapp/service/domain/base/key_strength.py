"""Whether a value of ``PATCHBAY_SECRET_KEY`` can be guessed: everything that is sealed depends on it.

What is long can still be a word that repeats. The guesses that it takes are estimated by the library ``zxcvbn``, which
is large, and asked where a key is chosen: for a new data folder, and for one that takes another's place.
"""

import functools
import math

from webapp.service.domain.base.key_file import WrongKey

LEAST_BITS = 64
_READ = 72  # characters that the library looks at


class WeakKey(WrongKey):
    """PATCHBAY_SECRET_KEY can be guessed; `openssl rand -hex 32` makes a good one."""


@functools.lru_cache(maxsize=8)
def is_weak(secret_key: str) -> bool:
    """Whether fewer than 2**64 guesses find ``secret_key``."""
    from zxcvbn import zxcvbn  # type: ignore[import-untyped]  # it carries no types

    return math.log2(zxcvbn(secret_key[:_READ])["guesses"]) < LEAST_BITS
