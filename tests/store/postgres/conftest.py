"""A migrated database in the tests' own server."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.once import postgres as databases
from webapp.store.postgres.store import PostgresStore


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a database with the whole schema."""
    name = databases.new()
    yield databases.url(name)
    databases.drop(name)


@pytest.fixture
def postgres(url: str) -> Iterator[PostgresStore]:
    """A store over :func:`url`."""
    with closing(PostgresStore(url, connections=4, patience_s=2)) as store:
        yield store
