"""Folders of components that belong to an app which stands elsewhere: ``joins = "<slug>"`` in their ``app.toml``.

Pieces bring such: their actions and triggers work with the accounts of an app that is built in. A key that the app has
already is the app's; who writes the folder takes another.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from webapp.service.catalog.component_files import KINDS, OF_PIECES, PATTERNS, Component, components

JOINS = "joins"


def target(fields: Mapping[str, Any]) -> str | None:
    """The slug of the app that the components beside an ``app.toml`` with these ``fields`` belong to."""
    slug = fields.get(JOINS)
    return slug if isinstance(slug, str) else None


def beside(file: Path, slug: str, problems: list[str]) -> Iterator[Component]:
    """The components beside the ``app.toml`` at ``file``, as those of the app ``slug``."""
    patterns = [f"{kinds}/{pattern}" for kinds in KINDS for pattern in (*PATTERNS, OF_PIECES)]
    files = sorted(path for pattern in patterns for path in file.parent.glob(pattern))
    return components(files, file.parent.parent, slug, problems)


def added(own: Iterable[Component], more: Iterable[Component], problems: list[str]) -> list[Component]:
    """``own`` components of an app with ``more`` that join it, but for those whose key is one of its own."""
    listed = list(own)
    taken = {component.key for component in listed}
    for component in more:
        if component.key in taken:
            problems.append(f"{component.path}: its app has a component of this name already; give it another.")
        else:
            listed.append(component)
    return listed
