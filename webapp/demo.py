"""The mark of a demo installation (table ``demo``): ``patchbay demo`` filled it, and nothing in it is anybody's.

The mark is in the database, where no setting and no file that somebody copies can put it, and it goes along with a
backup. What depends on it: the sentence on each page, and ``patchbay demo --empty``, which removes everything.
"""

from webapp.store.contract import Reader, Tx


def mark(tx: Tx, name: str, at: int) -> None:
    """Mark this installation as the demo of the made-up product ``name``, filled ``at`` epoch milliseconds."""
    tx.run("INSERT INTO demo (name, made_at) VALUES (:name, :at)", {"name": name, "at": at})


def is_demo(reader: Reader) -> bool:
    """Whether this installation is a demo."""
    return reader.one("SELECT 1 AS n FROM demo") is not None
