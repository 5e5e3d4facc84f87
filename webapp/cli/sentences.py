"""Which errors are answers to the person at the keyboard: one sentence and an exit code, no traceback."""

from webapp.errors import PatchbayError
from webapp.service.domain.base.keyring import WrongKey
from webapp.service.domain.base.scopes import UnknownScope
from webapp.settings import BadSetting


def sentence_of(error: BaseException) -> str | None:
    """The sentence to show for ``error``; None when it is a bug, whose traceback is what helps."""
    if isinstance(error, PatchbayError):
        return error.message
    if isinstance(error, BadSetting | WrongKey | UnknownScope):
        return str(error)
    if isinstance(error, PermissionError | FileNotFoundError | NotADirectoryError | FileExistsError):
        return (
            f"{error.filename} cannot be used ({(error.strerror or 'no reason given').lower()}); check PATCHBAY_DATA."
        )
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        return f"The system refused: {(error.strerror or str(error)).lower()}."
    return None
