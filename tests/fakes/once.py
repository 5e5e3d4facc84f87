"""What is the same in all services and applications of a run, worked out once for all of them.

The templates, the addresses of routes, and of the built-in apps the hash of their files and what their components
declare. Each is kept by everything that it is made of, so that what a test changes is worked out anew.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from webapp.service.catalog import declaring, sources
from webapp.service.catalog.declaring import Declare, Declared
from webapp.service.catalog.sources import BUILT_IN, Component

Builder = Callable[..., tuple[str, str]]
Facts = Mapping[str, Mapping[str, Any]]
Declarations = tuple[list[Declared], list[str]]


class CompiledTemplates(BytecodeCache):
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


def built_addresses(compile_builder: Callable[[Rule, bool], Builder]) -> Callable[[Rule, bool], Builder]:
    """What builds the address of a rule: it is given the rule at each call, and made of its text and defaults alone."""
    kept: dict[tuple[object, ...], Builder] = {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Builder:
        key = (rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown)
        if key not in kept:
            kept[key] = compile_builder(rule, append_unknown)
        return kept[key]

    return compile_once


def hashed_apps(digest: Callable[[Path, Iterable[Path]], str]) -> Callable[[Path, Iterable[Path]], str]:
    """The hash of the built-in apps, whose files no test changes."""
    kept: dict[Path, str] = {}

    def digest_once(folder: Path, files: Iterable[Path]) -> str:
        if folder != BUILT_IN:
            return digest(folder, files)
        if folder not in kept:
            kept[folder] = digest(folder, files)
        return kept[folder]

    return digest_once


def declared_components(
    declared: Callable[[Iterable[Component], Declare, Facts], Declarations],
) -> Callable[[Iterable[Component], Declare, Facts], Declarations]:
    """What built-in components declare, by their marks: as a catalog that is built again knows it from the last one."""
    kept: dict[str, Mapping[str, Any]] = {}

    def declare_once(components: Iterable[Component], declare: Declare, known: Facts) -> Declarations:
        declarations, problems = declared(components, declare, {**kept, **known})
        kept.update((item.mark, item.facts) for item in declarations if _ships(item.component))
        return declarations, problems

    return declare_once


def _ships(component: Component) -> bool:
    return component.root == BUILT_IN and component.file.is_file()


def keep() -> None:
    """Begin to keep all of it, for as long as this process lasts."""
    Flask.jinja_options = {"bytecode_cache": CompiledTemplates()}
    Rule._compile_builder = built_addresses(Rule._compile_builder)  # type: ignore[method-assign, assignment]
    sources._digest = hashed_apps(sources._digest)  # type: ignore[assignment]
    declaring.declared = declared_components(declaring.declared)  # type: ignore[assignment]
