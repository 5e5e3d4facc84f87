"""The public directory on this machine: ``DATA/directory.db``, with each document compressed and an index of them all.

The file never changes. A new one is made beside it and takes its place whole, so that who reads meets one or the other,
and a crash, a full disk or a bad archive leaves the earlier one. Readers open the file for each call, which takes less
than a millisecond, and keep what they opened while it is replaced or removed.

The table ``documents`` has each document with its facts, and its text last, compressed. ``words`` has the words for
full-text search by the same numbers, and ``places`` what their matches are sorted by; ``names`` has the words that a
misspelt one may stand for, and ``about`` says which directory it is.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from webapp.errors import Conflict, Invalid, NotFound, Unavailable, Unwritable
from webapp.kit.misspelling import similar_words
from webapp.kit.scratch import Scratch, sweep
from webapp.service.catalog.search import MAX_QUERY, MAX_WORDS
from webapp.service.catalog.search import words as folded
from webapp.service.directory import archive
from webapp.service.directory.archive import Contents
from webapp.service.directory.entries import Entry, entry
from webapp.service.directory.progress import Progress, unseen

FILE = "directory.db"
FORMAT = 2
MOST_FOUND = 100
FEWEST = 100
"""Documents that an archive of the directory has at least; one with fewer is not it."""
ABSENT = "The public directory is not on this machine. `patchbay directory add` brings it."
SCRATCH = ".directory-"
_LEVEL = 6
_TOLD_EVERY = 20  # documents
_FACTS = ("id", "name", "title", "version", "description", "hosts", "categories", "operations", "size")
_COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("name", "provider", "service", "title", "version", "description", "hosts", "categories"), str),
    **dict.fromkeys(("operations", "size"), int),
    "content": bytes,
}
_SEARCHED = ("names", "title", "hosts", "categories", "description", "operations")
_CREATE_WORDS = (
    f"CREATE VIRTUAL TABLE words USING fts5({', '.join(_SEARCHED)}, content='', prefix='2 3', tokenize='unicode61')"
)
_WHOLE = 1.3
"""By how much the document of a whole provider ranks before those of its single APIs."""
_CREATE_PLACES = """
    CREATE TABLE places AS SELECT
        row_number() OVER (ORDER BY name) AS place, provider,
        CASE WHEN service IN ('', 'api.' || provider) THEN ? ELSE 1.0 END AS weight
    FROM documents ORDER BY id
"""
_MATCHES = """
    SELECT words.rowid FROM words CROSS JOIN places ON places.rowid = words.rowid WHERE words MATCH :query
    ORDER BY substr(provider, 1, length(:start)) <> :start, {rank}place LIMIT :limit
"""
_RANKED = _MATCHES.format(rank="bm25(words, 20, 12, 6, 3, 2, 1) * weight, ")
_UNRANKED = _MATCHES.format(rank="")


@dataclass(frozen=True, slots=True)
class About:
    """Which directory it is.

    ``published_at`` (epoch milliseconds) is None if nobody said it; ``source`` is the registry or the name of a file.
    ``left_out`` are documents that are too large or hold no operation.
    """

    version: str
    integrity: str
    source: str
    added_at: int
    published_at: int | None = None
    documents: int = 0
    operations: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def date(self) -> int:
        """Since when its documents are at least this old (epoch milliseconds)."""
        return self.published_at or self.added_at


@dataclass(frozen=True, slots=True)
class Document:
    """One document with its text, and the directory that it is from. ``version`` is the document's own."""

    name: str
    title: str
    version: str
    content: bytes = field(repr=False)
    about: About


def path_of(data: Path) -> Path:
    """The file of the directory in the data folder ``data``."""
    return data / FILE


def about(data: Path) -> About | None:
    """Which directory is in ``data``; None if there is none. Read once for each file."""
    try:
        status = path_of(data).stat()
    except FileNotFoundError:
        return None
    return _about_file(data, status.st_dev, status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _about_file(data: Path, *_identity: int) -> About | None:
    with _opened(data) as connection:
        return _about(connection) if connection else None


def about_of(facts: Mapping[str, Any]) -> About:
    """Which directory it is, by the facts that were kept of it as JSON."""
    return About(**{**facts, "left_out": tuple(facts["left_out"])})


def document(data: Path, name: str, version: str = "") -> Document:
    """The document ``name``, such as ``googleapis.com:calendar``, or ``stripe.com`` where a provider has only one.

    ``version`` is one that the directory must have, such as 1.3.17; "" for any. Raises :class:`NotFound`, and
    :class:`Conflict` for a directory of another version.
    """
    with _opened(data) as connection:
        present = _about(connection) if connection else None
        if connection is None or present is None:
            raise NotFound(ABSENT)
        if version and version != present.version:
            raise Conflict(f"The public directory here is version {present.version}, and not {version[:50]}.")
        sql = "SELECT name, title, version, content FROM documents WHERE name = ?"
        row = connection.execute(sql, [_name(name)]).fetchone()
        if row is None:
            raise NotFound(f"The public directory has no document {name[:100]}.")
        return Document(row["name"], row["title"], row["version"], zlib.decompress(row["content"]), present)


def facts(data: Path, name: str) -> Entry:
    """What the index says of the document ``name``. Raises :class:`NotFound`."""
    with _opened(data) as connection:
        if connection is None:
            raise NotFound(ABSENT)
        sql = f"SELECT {', '.join(_FACTS)} FROM documents WHERE name = ?"  # noqa: S608
        row = connection.execute(sql, [_name(name)]).fetchone()
        if row is None:
            raise NotFound(f"The public directory has no document {name[:100]}.")
        return _entry(row)


def search(data: Path, text: str, limit: int = 20) -> list[Entry]:
    """The documents that hold all words of ``text``, the nearest first; without such, those that hold similar names.

    Empty for a text without words, and where there is no directory.
    """
    typed = folded(text[:MAX_QUERY])[:MAX_WORDS]
    with _opened(data) as connection:
        if connection is None or not typed:
            return []
        exact = _matching(connection, [[word] for word in typed], limit)
        if exact:
            return exact
        names = _names(connection)
        return _matching(connection, [[word, *similar_words(word, names)] for word in typed], limit)


def write(data: Path, path: Path, new: About, progress: Progress = unseen) -> About:
    """Make the directory of the archive at ``path`` the one in ``data``; return what it is now.

    The integrity of ``new`` was compared already; its version may be "" for that of the archive. ``progress`` gets the
    number of documents that are indexed. Raises :class:`Invalid` for an archive that is none, and :class:`Unwritable`
    for a disk that takes no more; the earlier directory stays then.
    """
    try:
        with Scratch(SCRATCH, data) as folder:
            draft = folder / FILE
            written = _write(draft, path, new, progress)
            draft.chmod(0o600)
            draft.replace(path_of(data))
            return written
    except (sqlite3.OperationalError, OSError) as error:
        raise Unwritable(f"The public directory could not be written to {data}: {_reason(error)}.") from error


def remove(data: Path) -> About | None:
    """Remove the directory, and return which it was; None if there is none. Who reads it now reads on."""
    present = about(data)
    sweep(data, SCRATCH)
    path_of(data).unlink(missing_ok=True)
    return present


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return str(error).lower()


def _write(draft: Path, path: Path, new: About, progress: Progress) -> About:
    contents, left_out, words = Contents(), list[str](), list[dict[str, Any]]()
    with closing(Database(sqlite3.connect(draft))) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute(f"PRAGMA user_version = {FORMAT}")
        documents = database.table("documents").create({"id": int, **_COLUMNS}, pk="id")
        read = _counted(archive.documents(path, contents), progress)
        documents.insert_all(_rows(read, words, left_out), batch_size=50)
        if len(words) < FEWEST or not contents.version:
            raise Invalid(f"{path.name} holds {len(words):,} documents, which is not the whole public directory.")
        if new.version and contents.version != new.version:
            raise Invalid(f"{path.name} is version {contents.version}, and not {new.version}.")
        documents.create_index(["name"], unique=True)
        database.execute(_CREATE_PLACES, [_WHOLE])
        database.execute(_CREATE_WORDS)
        database.table("words").insert_all(words)
        ((operations,),) = database.execute("SELECT COALESCE(SUM(operations), 0) FROM documents").fetchall()
        gone = tuple(sorted((*left_out, *contents.too_large)))
        written = replace(new, version=contents.version, documents=len(words), operations=operations, left_out=gone)
        names = {word for row in words for word in f"{row['names']} {row['title']}".split() if word.isalpha()}
        database.table("names").insert({"words": json.dumps(sorted(names))})
        database.table("about").insert({"facts": json.dumps(asdict(written))})
        database.conn.commit()
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    return written


def _counted(documents: Iterable[archive.Document], progress: Progress) -> Iterator[archive.Document]:
    for number, each in enumerate(documents):
        if number % _TOLD_EVERY == 0:
            progress("indexing", number)
        yield each


def _rows(
    documents: Iterable[archive.Document], words: list[dict[str, Any]], left_out: list[str]
) -> Iterator[dict[str, Any]]:
    """The rows of the table ``documents``; those for full-text search are added to ``words``."""
    number = 0
    for each in documents:
        known = entry(each.name, each.content)
        if known is None:
            left_out.append(each.name)
            continue
        number += 1
        words.append({"rowid": number, **_words(known)})
        names = ("provider", "service", *(name for name in _FACTS if name not in ("id", "hosts", "categories")))
        row = {name: getattr(known, name) for name in names}
        lists = {"hosts": json.dumps(known.hosts), "categories": json.dumps(known.categories)}
        yield {"id": number, **row, **lists, "content": zlib.compress(each.content, _LEVEL)}


def _words(known: Entry) -> dict[str, str]:
    names = known.name.replace(".", " ").replace(":", " ").replace("-", " ").replace("_", " ")
    texts = (names, known.title, " ".join(known.hosts), " ".join(known.categories), known.description)
    return dict(zip(_SEARCHED, (*(" ".join(folded(text)) for text in texts), " ".join(known.words)), strict=True))


@contextmanager
def _opened(data: Path) -> Iterator[sqlite3.Connection | None]:
    """The file, open for reading; None if there is none. Raises :class:`Unavailable` for one that is unreadable."""
    path = path_of(data)
    if not path.is_file():
        yield None
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            ((form,),) = connection.execute("PRAGMA user_version").fetchall()
            yield connection if form == FORMAT else None
    except (sqlite3.Error, zlib.error) as error:
        if not path.is_file():  # removed before it was open
            raise NotFound(ABSENT) from error
        raise Unavailable(
            "The public directory on this machine cannot be read. `patchbay directory add` brings it again."
        ) from error


def _about(connection: sqlite3.Connection) -> About:
    ((text,),) = connection.execute("SELECT facts FROM about").fetchall()
    return about_of(json.loads(text))


def _matching(connection: sqlite3.Connection, choices: Sequence[Sequence[str]], limit: int) -> list[Entry]:
    """The documents that have, for each of ``choices``, a word that begins with one of its words.

    Those of providers whose names begin with the first word come first, then the best matches. Only the rows of these
    are read, as a word may be in a thousand documents, and SQLite sorts them, which takes less than handing them out.
    """
    query = " AND ".join("({})".format(" OR ".join(map(_term, words))) for words in choices)
    single = all(len(word) == 1 for words in choices for word in words)  # too little to tell matches apart
    values = {"query": query, "start": choices[0][0], "limit": min(limit, MOST_FOUND)}
    numbers = [number for (number,) in connection.execute(_UNRANKED if single else _RANKED, values)]
    sql = f"SELECT {', '.join(_FACTS)} FROM documents WHERE id IN ({', '.join('?' * len(numbers))})"  # noqa: S608
    rows = {row["id"]: row for row in connection.execute(sql, numbers)}
    return [_entry(rows[number]) for number in numbers]


def _term(word: str) -> str:
    """A word in the query; one that is too short for operations is looked for in names only."""
    columns = {1: "{names}: ", 2: "{names title}: "}.get(len(word), "")
    return f'{columns}"{word}"*'


def _names(connection: sqlite3.Connection) -> list[str]:
    """The words of names and titles."""
    ((listed,),) = connection.execute("SELECT words FROM names").fetchall()
    names: list[str] = json.loads(listed)
    return names


def _name(name: str) -> str:
    """``name`` as the index has it: ``googleapis.com/calendar`` is ``googleapis.com:calendar``."""
    return name.strip().replace("/", ":", 1)


def _entry(row: sqlite3.Row) -> Entry:
    facts = {name: row[name] for name in _FACTS if name != "id"}
    return Entry(**{**facts, **{name: tuple(json.loads(row[name])) for name in ("hosts", "categories")}})
