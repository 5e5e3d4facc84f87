"""Databases for the tests in one PostgreSQL server, which is started when the first of them is asked for.

A new one is a copy: of nothing, or of one that has the whole schema.
"""

import atexit
import itertools
from contextlib import ExitStack
from functools import cache
from typing import Any

import psycopg

from tests.fakes.databases.postgres_server import PASSWORD, USER, server
from webapp.store.postgres.store import PostgresStore

_FAST = "-c synchronous_commit=off -c full_page_writes=off -c max_connections=200 -c autovacuum=off"
_numbers = itertools.count(1)


@cache
def _port() -> int:
    stack = ExitStack()
    port = stack.enter_context(server(_FAST)).port
    atexit.register(stack.close)
    return port


@cache
def _connection() -> "psycopg.Connection[Any]":
    connection = psycopg.connect(url("postgres"), autocommit=True)
    atexit.register(connection.close)
    return connection


@cache
def _template() -> str:
    """A database with the whole schema."""
    name = new("template0")
    store = PostgresStore(url(name), connections=2)
    store.migrate()
    store.close()
    return name


def url(name: str) -> str:
    """The address of the database ``name``."""
    return f"postgresql://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{_port()}/{name}"


def new(template: str | None = None) -> str:
    """The name of a new database, migrated unless it copies another ``template``."""
    source, name = template or _template(), f"test_{next(_numbers)}"
    _connection().execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}" STRATEGY file_copy')
    return name


def drop(name: str) -> None:
    """Remove a database, whoever is connected to it."""
    _connection().execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
