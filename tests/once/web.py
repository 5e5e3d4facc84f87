"""What is the same in all applications of a run, worked out once for all of them: templates, rules and addresses.

Each is kept by everything that it is made of, so that what a test changes is worked out anew.
"""

from collections.abc import Callable
from types import CodeType
from typing import Any

from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]


class CompiledTemplates(BytecodeCache):
    """Templates are compiled once for all the applications of a run, rather than once for each."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get(self._key(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[self._key(bucket)] = bucket.code

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


def compiled_rules(compile_rule: Callable[[Rule], None]) -> Callable[[Rule], None]:
    """What a rule becomes in a map, which depends on its text, its defaults and the converters that the map knows."""
    kept: dict[tuple[object, ...], tuple[Any, ...]] = {}

    def compile_once(rule: Rule) -> None:
        place = rule.host if rule.map.host_matching else rule.subdomain
        known = frozenset(rule.map.converters.items())
        key = (rule.rule, place or "", rule.merge_slashes, repr(rule.defaults), known)
        if key not in kept:
            compile_rule(rule)
            kept[key] = rule._parts, rule._trace, rule._converters, frozenset(rule.arguments)
            return
        rule._parts, rule._trace, rule._converters, arguments = kept[key]
        rule.arguments |= arguments
        rule._build = rule._compile_builder(False).__get__(rule, None)
        rule._build_unknown = rule._compile_builder(True).__get__(rule, None)

    return compile_once


def keep() -> None:
    """Begin to keep them, for as long as this process lasts."""
    Rule.compile = compiled_rules(Rule.compile)  # type: ignore[method-assign, assignment]
    Flask.jinja_options = {"bytecode_cache": CompiledTemplates()}
    Rule._compile_builder = built_addresses(Rule._compile_builder)  # type: ignore[method-assign, assignment]
