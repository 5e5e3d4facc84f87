"""What is remembered of an import, beside the app's own files: ``DATA/apps/<slug>/import.json``.

A record keeps the names of actions and props over the next import, and tells which files are still as written.
The importer itself is loaded when somebody imports; this is what lists need.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import orjson

RECORD = "import.json"
MOST_ACTIONS = 1500  # of one app


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever imports may choose; what is empty is chosen for them.

    ``only`` are tags, operation ids, or methods and paths. ``test`` is the operation or path that tests an account.
    """

    only: tuple[str, ...] = ()
    auth: str = ""
    server: str = ""
    test: str = ""
    docs_url: str = ""
    category: str = ""
    name: str = ""

    def or_else(self, others: "Options") -> "Options":
        """These, and those of ``others`` where nothing was chosen."""
        return Options(**{name: value or getattr(others, name) for name, value in asdict(self).items()})


@dataclass(frozen=True, slots=True)
class Imported:
    """An operation that is an action now. ``props`` are the names of its props by what they stand for."""

    operation_id: str
    action: str
    props: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """An app that was imported. ``digests`` are those of the files that were written, by their places in its folder.

    ``source`` is the address or the name of the file, ``imported_at`` epoch milliseconds. ``directory`` is the name of
    its document in the public directory; "" for another one.
    """

    slug: str
    title: str
    version: str
    source: str
    imported_at: int
    options: Options = Options()
    operations: Mapping[str, Imported] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    unsaid: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""

    def to_json(self) -> bytes:
        """The file's content."""
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """That of the app in ``folder``; None where it was not imported, or its file cannot be read."""
        try:
            fields: dict[str, Any] = orjson.loads((folder / RECORD).read_bytes())
            options = Options(**{**fields["options"], "only": tuple(fields["options"]["only"])})
            operations = {id_: Imported(**each) for id_, each in fields["operations"].items()}
            return cls(**{**fields, "options": options, "operations": operations})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def is_untouched(self, folder: Path, place: str) -> bool:
        """Whether the file at ``place`` is as it was written, or gone."""
        file = folder / place
        return not file.is_file() or digest(file.read_bytes()) == self.digests.get(place)


@dataclass(frozen=True, slots=True)
class Summary:
    """What lists say of an app that was imported; ``actions`` is how many it has. The rest is as in :class:`Record`."""

    slug: str
    title: str
    version: str
    source: str
    imported_at: int
    directory: str
    actions: int


def summary(folder: Path) -> Summary | None:
    """That of the app in ``folder``, as :meth:`Record.read`. The file, of up to a megabyte, is read once it changed."""
    try:
        facts = (folder / RECORD).stat()
    except OSError:
        return None
    return _summary(folder, facts.st_ino, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=1024)
def _summary(folder: Path, *_mark: int) -> Summary | None:
    record = Record.read(folder)
    if record is None:
        return None
    facts = (record.slug, record.title, record.version, record.source, record.imported_at, record.directory)
    return Summary(*facts, actions=len(record.operations))


def digest(content: bytes) -> str:
    """What tells a file's content from any other."""
    return hashlib.sha256(content).hexdigest()
