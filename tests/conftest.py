"""What every test may ask for: an empty data folder, settings and a clock that belong to it, a migrated store."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from webapp.kit.clock import FakeClock
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore

Builder = Callable[..., tuple[str, str]]


class CompiledOnce(BytecodeCache):
    """Templates are compiled once for all the applications of a run, rather than once for each."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if (code := self._kept.get(self._key(bucket))) is not None:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[self._key(bucket)] = bucket.bytecode_to_string()

    @staticmethod
    def _key(bucket: Bucket) -> tuple[object, ...]:
        env = bucket.environment
        return bucket.key, bucket.checksum, env.trim_blocks, env.lstrip_blocks, tuple(sorted(env.extensions))


Flask.jinja_options = {"bytecode_cache": CompiledOnce()}


def built_once(compile_builder: Callable[[Rule, bool], Builder]) -> Callable[[Rule, bool], Builder]:
    """What builds the address of a rule is compiled once for all the applications of a run, as templates are.

    It is given the rule at each call, and is made of nothing but the rule's own text and defaults.
    """
    kept: dict[tuple[object, ...], Builder] = {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Builder:
        key = (rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown)
        if key not in kept:
            kept[key] = compile_builder(rule, append_unknown)
        return kept[key]

    return compile_once


Rule._compile_builder = built_once(Rule._compile_builder)  # type: ignore[method-assign, assignment]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(data: Path) -> Settings:
    """The default settings, over :func:`data`, deaf to the environment of the person who runs the tests."""
    return Settings.from_env({}, data=data)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves only when it is told to."""
    return FakeClock()


@pytest.fixture
def store(data: Path) -> Iterator[SQLiteStore]:
    """A migrated store in :func:`data`."""
    opened = SQLiteStore(data / "patchbay.db")
    opened.migrate()
    yield opened
    opened.close()
