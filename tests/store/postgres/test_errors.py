"""What PostgreSQL says is wrong becomes one of our errors, or stays what it is where the fault is ours."""

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from webapp.errors import Conflict, Damaged, Unavailable, Unwritable
from webapp.store.postgres.errors import translated, translation


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (psycopg.errors.UniqueViolation(), Conflict),
        (psycopg.errors.ForeignKeyViolation(), Conflict),
        (psycopg.errors.NotNullViolation(), Conflict),
        (psycopg.errors.LockNotAvailable(), Unavailable),
        (psycopg.errors.DeadlockDetected(), Unavailable),
        (psycopg.errors.AdminShutdown(), Unavailable),
        (psycopg.errors.IdleInTransactionSessionTimeout(), Unavailable),
        (psycopg.errors.TooManyConnections(), Unavailable),
        (psycopg.OperationalError("the connection is lost"), Unavailable),
        (PoolTimeout(), Unavailable),
        (psycopg.errors.DiskFull(), Unwritable),
        (psycopg.errors.ReadOnlySqlTransaction(), Unwritable),
        (psycopg.errors.InsufficientPrivilege(), Unwritable),
        (psycopg.errors.DataCorrupted(), Damaged),
    ],
)
def test_an_error_of_the_database_is_one_of_ours(error: Exception, ours: type[Exception]) -> None:
    assert type(translation(error)) is ours
    with pytest.raises(ours) as caught, translated():
        raise error
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [psycopg.errors.UndefinedTable(), psycopg.errors.SyntaxError(), ValueError()])
def test_a_fault_of_ours_stays_what_it_is(error: Exception) -> None:
    assert translation(error) is None
    with pytest.raises(type(error)), translated():
        raise error
