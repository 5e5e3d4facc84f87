"""Rules of addresses that cost little to add: most are matched, and never asked to build an address."""

from collections.abc import Callable
from typing import Any

from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]


class LazyRule(Rule):
    """A rule that compiles the builders of its addresses when the first address is built.

    Werkzeug writes and compiles two functions for every rule as it is added, which is nearly all of the time that an
    application of hundreds of rules takes to begin. With a Werkzeug that has no such step nothing is put off.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Builder:
        compiled: Builder | None = None

        def build(rule: Rule, /, **values: Any) -> tuple[str, str]:
            nonlocal compiled
            if compiled is None:
                compiled = Rule._compile_builder(rule, append_unknown)
            return compiled(rule, **values)

        return build
