"""Which database the tests have: SQLite, or PostgreSQL with ``PATCHBAY_TEST_DATABASE=postgres`` (`make postgres`).

Then the file of an embedded database holds the name of one in the tests' own server. A copy of such a file, as fixtures
make it, is opened as a copy of that database.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.once import postgres
from webapp.store import stores
from webapp.store.contract import Store
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore

ON_POSTGRES = os.environ.get("PATCHBAY_TEST_DATABASE") == "postgres"
EMBEDDED = (
    "tests/store/", "tests/cli/", "tests/browser/", "tests/sandbox/", "tests/kit/", "tests/bench/",
    "tests/service/catalog/", "tests/service/components/", "tests/service/outbound/",
    "tests/service/domain/instance/test_backups.py", "tests/service/domain/instance/test_backups.py",
    "tests/service/domain/instance/test_database_move.py",
    "tests/faults/test_locked_database.py", "tests/faults/test_upgrade.py", "tests/faults/test_write_ahead_log.py",
    "tests/faults/test_cluster.py", "tests/faults/test_failover.py", "tests/faults/test_several_machines.py",
)  # fmt: skip
"""What looks at the embedded database alone, at both by itself, or at none."""
_databases: dict[str, str] = {}


def is_embedded(item: pytest.Item) -> bool:
    """Whether a test looks at the embedded database alone."""
    return item.nodeid.startswith(EMBEDDED) or item.get_closest_marker("embedded") is not None


def opened(path: Path, **options: Any) -> Any:
    """The store of the file ``path``, or what stands for it."""
    return _on_postgres(path) if ON_POSTGRES else SQLiteStore(path, **options)


@contextmanager
def environment() -> Iterator[dict[str, str]]:
    """The settings of a process that is to have the tests' database: none for the embedded one."""
    if not ON_POSTGRES:
        yield {}
        return
    name = postgres.new()
    yield {"PATCHBAY_DATABASE_URL": postgres.url(name)}
    postgres.drop(name)


def settings_of(path: Path) -> dict[str, str]:
    """The settings of a process that is to have the database of the file ``path``, which is made if need be."""
    return {"PATCHBAY_DATABASE_URL": postgres.url(_name_of(path))} if ON_POSTGRES else {}


def columns(store: Store) -> list[tuple[str, str]]:
    """Each table of ``store`` with each of its columns."""
    if store.folder is None:
        return store.tuples(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND "
            "table_name IN (SELECT relname FROM pg_class WHERE NOT relispartition)"
        )
    return store.tuples(
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )


def broken_keys(store: Store) -> list[tuple[Any, ...]]:
    """What refers to nothing; PostgreSQL looks at that by itself."""
    return [] if store.folder is None else store.tuples("PRAGMA foreign_key_check")


def keep() -> None:
    """Have the product open it too."""
    if ON_POSTGRES:
        setattr(stores, "SQLiteStore", lambda path, **_: _on_postgres(path))  # noqa: B010  # what it imported


def forget(folder: Path) -> None:
    """Remove the databases of the files in ``folder``."""
    for path in [path for path in _databases if path.startswith(f"{folder}/")]:
        postgres.drop(_databases.pop(path))


def _on_postgres(path: Path) -> PostgresStore:
    return PostgresStore(postgres.url(_name_of(path)), connections=8)


def _name_of(path: Path) -> str:
    """The name of the database that stands for the file ``path``."""
    name, place = path.read_text().split("\n") if path.exists() else ("template0", "")
    if place != str(path):
        name = postgres.new(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n{path}")
        _databases[str(path)] = name
    return name
