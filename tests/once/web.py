"""What is the same in all applications of a run, worked out once for all of them: templates and routes.

Each is kept by everything that it is made of, so that what a test changes is worked out anew.
"""

import copy
import hashlib
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType

from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Map, Rule, RuleFactory

from webapp.kit import assets, templates
from webapp.kit.scratch import Scratch

COMPILED = Path(__file__).parents[2] / ".pytest_cache" / "templates"


class CompiledTemplates(BytecodeCache):
    """Templates are compiled once for all the applications of a run, and those of the tree for later runs, too."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        key = self._key(bucket)
        if key not in self._kept and (file := _file_of(key)).is_file():
            bucket.bytecode_from_string(file.read_bytes())
            self._kept[key] = bucket.code
        bucket.code = self._kept.get(key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        key = self._key(bucket)
        self._kept[key] = bucket.code
        if bucket.code is not None and Path(bucket.code.co_filename).is_relative_to(assets.templates_dir()):
            COMPILED.mkdir(parents=True, exist_ok=True)
            with Scratch(".template-", COMPILED) as folder:
                (folder / "draft").write_bytes(bucket.bytecode_to_string())
                (folder / "draft").replace(_file_of(key))

    @staticmethod
    def _key(bucket: Bucket) -> tuple[object, ...]:
        env = bucket.environment
        return bucket.key, bucket.checksum, env.trim_blocks, env.lstrip_blocks, tuple(sorted(env.extensions))


def _file_of(key: tuple[object, ...]) -> Path:
    """By all that compiles a template, too."""
    return COMPILED / hashlib.sha256(repr((_compiler(), key)).encode()).hexdigest()


@cache
def _compiler() -> tuple[object, ...]:
    return sys.version, version("jinja2"), Path(templates.__file__).read_bytes()


class KeptMap(Map):
    """A map that shares what is worked out of its rules with every map of the same rules, once it is first asked.

    A rule that cannot be bound is thus found then, rather than where it is added.
    """

    _kept: dict[tuple[object, ...], Map] = {}  # noqa: RUF012  # of all maps

    def __init__(self, *, host_matching: bool = False) -> None:
        self._added: list[Rule] = []
        super().__init__(host_matching=host_matching)

    def add(self, rulefactory: RuleFactory) -> None:
        """Take the rules of ``rulefactory``, without binding them yet."""
        self._added += rulefactory.get_rules(self)
        self._remap = True

    def update(self) -> None:
        """Everything that asks a map calls this first."""
        if self._remap:
            with self._remap_lock:
                converters = frozenset(self.converters.items())
                key = (*self._facts().values(), converters, *map(_fields, self._added))
                if key not in self._kept:
                    self._kept[key] = self._worked_out()
                self._matcher, self._rules_by_endpoint = self._kept[key]._matcher, self._kept[key]._rules_by_endpoint
                self._remap = False

    def _facts(self) -> dict[str, object]:
        """All that a map is told beside its rules."""
        told = ("default_subdomain", "strict_slashes", "redirect_defaults", "host_matching", "merge_slashes")
        return {name: getattr(self, name) for name in (*told, "sort_parameters", "sort_key")}

    def _worked_out(self) -> Map:
        made = Map(converters=self.converters, **self._facts())  # type: ignore[arg-type]
        for rule in map(copy.copy, self._added):
            rule.arguments = set(rule.arguments)
            made.add(rule)
        made.update()
        return made


def _fields(rule: Rule) -> tuple[object, ...]:
    """All that an unbound rule is told."""
    methods = rule.methods and frozenset(rule.methods)
    options = (rule.strict_slashes, rule.merge_slashes, rule.build_only, rule.alias, rule.websocket)
    place = (rule.subdomain, rule.host, rule.redirect_to, repr(rule.defaults or {}))
    return rule.rule, rule.endpoint, methods, getattr(rule, "provide_automatic_options", None), options, place


def keep() -> None:
    """Begin to keep them, for as long as this process lasts."""
    Flask.url_map_class = KeptMap  # type: ignore[assignment]
    Flask.jinja_options = {"bytecode_cache": CompiledTemplates()}
