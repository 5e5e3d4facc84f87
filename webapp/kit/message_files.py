"""Reads gettext's message files (``.po``) directly, so that there are no compiled files to keep up to date.

Babel is imported on the first call, because the runner and the worker import this module but never read a file.
"""

from collections.abc import Iterable, Sequence
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog


def read(files: Sequence[Path]) -> GNUTranslations:
    """The messages of all ``files``, which are of one language, with the plural rule of the first.

    Raises :class:`babel.messages.pofile.PoFileError` for an invalid file.
    """
    from babel.messages.mofile import write_mo

    whole = _catalog_of(files[0])
    for other in files[1:]:
        for message in _catalog_of(other):
            if message.id and whole.get(message.id, message.context) is None:
                whole[message.id] = message
    compiled = BytesIO()
    write_mo(compiled, whole)
    compiled.seek(0)
    return GNUTranslations(compiled)


def pairs(files: Iterable[Path]) -> dict[str, str]:
    """The translations in ``files`` by their English, without messages that have a plural or a context."""
    messages = [message for file in files for message in _catalog_of(file) if message.id and not message.context]
    return {str(each.id): str(each.string) for each in messages if isinstance(each.id, str) and each.string}


def _catalog_of(file: Path) -> "Catalog":
    from babel.messages.pofile import read_po

    with file.open("rb") as content:
        return read_po(content, locale=file.parent.name, abort_invalid=True)
