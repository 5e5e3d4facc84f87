"""Exact counts of lists that grow (table ``counters``): kept in the transaction that adds or removes a row."""

from collections.abc import Iterable

from webapp.store.contract import Reader, Tx


def add(tx: Tx, names: Iterable[str], by: int) -> None:
    """Change each named count by ``by``."""
    for name in names:
        tx.run(
            "INSERT INTO counters (name, n) VALUES (:name, :by) "
            "ON CONFLICT (name) DO UPDATE SET n = counters.n + excluded.n",
            {"name": name, "by": by},
        )


def read(reader: Reader, name: str) -> int:
    """The count under ``name``; nothing was counted yet is 0."""
    row = reader.one("SELECT n FROM counters WHERE name = :name", {"name": name})
    return int(row["n"]) if row else 0


def drop(tx: Tx, prefix: str) -> None:
    """Forget every count whose name starts with ``prefix`` (when a project goes)."""
    tx.run("DELETE FROM counters WHERE name >= :low AND name < :high", {"low": prefix, "high": prefix + "\U0010ffff"})
