"""Reads gettext's message files (``.po``) as they are written: there is nothing to compile and to keep up to date.

Babel is imported by the first call: the runner and the worker import this with what they share, and read no file.
"""

from collections.abc import Iterable, Sequence
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog


def read(files: Sequence[Path]) -> GNUTranslations:
    """The messages of all ``files``, which are of one language; the first one's rule of plurals holds.

    Raises :class:`babel.messages.pofile.PoFileError` for a file that is none.
    """
    from babel.messages.mofile import write_mo

    whole = _catalog_of(files[0])
    for other in files[1:]:
        for message in _catalog_of(other):
            if message.id and message.id not in whole:
                whole[message.id] = message
    compiled = BytesIO()
    write_mo(compiled, whole)
    compiled.seek(0)
    return GNUTranslations(compiled)


def pairs(files: Iterable[Path]) -> dict[str, str]:
    """The messages of ``files`` without a plural, by their English."""
    messages = [message for file in files for message in _catalog_of(file)]
    return {str(each.id): str(each.string) for each in messages if isinstance(each.id, str) and each.id and each.string}


def _catalog_of(file: Path) -> "Catalog":
    from babel.messages.pofile import read_po

    with file.open("rb") as content:
        return read_po(content, locale=file.parent.name, abort_invalid=True)
