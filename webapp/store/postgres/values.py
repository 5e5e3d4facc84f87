"""How values travel to PostgreSQL and back, so that they are what SQLite takes and gives.

Numbers go as BIGINT, ``bool`` as 0 or 1, bytes as BYTEA; a NUL in a text, which no server keeps, as U+FFFD. What
PostgreSQL counts as a truth comes back as 0 or 1, and a sum of whole numbers as one.
"""

from decimal import Decimal
from typing import Any

from psycopg import adapters, postgres
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader


class _TruthDumper(Dumper):
    oid = postgres.types["int8"].oid

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class _TextDumper(Dumper):
    oid = postgres.types["text"].oid

    def dump(self, obj: Any) -> bytes:
        text: str = obj
        return (text.replace("\0", "\ufffd") if "\0" in text else text).encode()


class _TruthLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(bytes(data) != b"\0")


class _NumberLoader(NumericBinaryLoader):
    def load(self, data: Buffer) -> Any:
        value: Decimal = super().load(data)
        return int(value) if value == value.to_integral_value() else float(value)


def _adapters() -> AdaptersMap:
    ours = AdaptersMap(adapters)
    ours.register_dumper(bool, _TruthDumper)
    ours.register_dumper(int, Int8Dumper)
    ours.register_dumper(str, _TextDumper)
    ours.register_loader("bool", _TruthLoader)
    ours.register_loader("numeric", _NumberLoader)
    return ours


class _Context:
    """What a connection takes its adapters from."""

    connection = None
    adapters = _adapters()


CONTEXT = _Context()
"""Of results in the binary format, which :class:`webapp.store.postgres.connections.Session` asks for."""
