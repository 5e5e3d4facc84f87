"""The log of attempts to deliver (table ``delivery_attempts``)."""

from collections.abc import Sequence

from webapp.store.contract import Tx


def add(tx: Tx, rows: Sequence[tuple[object, ...]]) -> None:
    """Add attempts: the delivery's id, the attempt's number, time, milliseconds, HTTP status, error, and as JSON the
    signed headers and the response."""
    values, params = values_of(rows)
    columns = "delivery_id, n, at, took_ms, status, error, signed, response"
    tx.run(f"INSERT INTO delivery_attempts ({columns}) VALUES {values}", params)  # noqa: S608


def values_of(rows: Sequence[tuple[object, ...]]) -> tuple[str, dict[str, object]]:
    """``rows`` for ``VALUES``: the marks and the parameters."""
    marks = [[f"r{n}_{m}" for m in range(len(row))] for n, row in enumerate(rows)]
    params = {
        mark: value for names, row in zip(marks, rows, strict=True) for mark, value in zip(names, row, strict=True)
    }
    return ", ".join(f"({', '.join(':' + mark for mark in names)})" for names in marks), params
