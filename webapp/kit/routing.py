"""Addresses at little cost: of rules, most are matched and never asked to build one; of addresses, most are built again
and again.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from flask import Flask, has_request_context, request
from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]
_ADDRESSES = 4_096
_PLAIN = frozenset((str, int, type(None)))  # of these, equal ones make equal addresses; True and 1 do not


class AddressBook(Flask):
    """An app that builds an address within itself once, as long as it is among the last ones that were asked for."""

    def url_for(self, /, endpoint: str, **values: Any) -> str:
        """The address of ``endpoint``, as :meth:`flask.Flask.url_for` builds it."""
        if endpoint[:1] == "." or not _PLAIN.issuperset(map(type, values.values())) or not has_request_context():
            return super().url_for(endpoint, **values)
        environ = request.environ
        return self._addresses(environ["SCRIPT_NAME"], environ["REQUEST_METHOD"], endpoint, *values.items())

    @cached_property
    def _addresses(self) -> Callable[..., str]:
        return lru_cache(_ADDRESSES)(self._address)

    def _address(self, script_name: str, method: str, endpoint: str, /, *values: tuple[str, Any]) -> str:
        """An address depends on no more of a request than where the app stands in it, and on its method."""
        return super().url_for(endpoint, **dict(values))


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
