"""Aliases: further names by which callers may refer to apps, components and props. Responses contain only own names.

An app has the ``aliases`` of its ``app.toml``, a component those of its file under every name of its app
(``<app>-<name>``), a prop those of its declaration; :mod:`registry_keys` adds those of the public registry. Some
aliases of props are implied: every name in camelCase, and for the account's prop the names of its app in camelCase, and
``app``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from webapp.service.catalog.component_files import Component
from webapp.service.catalog.component_keys import key_of, name_of

ACCOUNT = "app"


def prop_names(
    props: Sequence[Mapping[str, Any]], declared: Mapping[str, str], app_names: Iterable[str]
) -> dict[str, str]:
    """The names of ``props`` by their aliases; ``app_names`` are the names of the component's app."""
    own = {prop["name"] for prop in props}
    accounts = [prop["name"] for prop in props if prop["type"] == "app"]
    implied = {_camel_case(name): name for name in own}
    if len(accounts) == 1:
        implied |= dict.fromkeys([ACCOUNT, *map(_camel_case, app_names)], accounts[0])
    return {alias: name for alias, name in {**implied, **declared}.items() if alias not in own}


def keys(app_names: Sequence[str], slug: str, key: str, names: Iterable[str]) -> Iterator[str]:
    """The other keys of the component ``key`` of the app ``slug``, made from aliases."""
    name = name_of(key, slug)
    for app_name in app_names:
        yield from (alias for alias in (key_of(app_name, each) for each in (name, *names)) if alias != key)


def problems(declared: Iterable[tuple[Component, Mapping[str, Any]]]) -> dict[Component, list[str]]:
    """The problems with the components' aliases, each of which must be unique within its app."""
    pairs = list(declared)
    taken = {(component.app, component.name): component.name for component, _ in pairs}
    wrong: dict[Component, list[str]] = {}
    for component, facts in pairs:
        name = component.name
        if facts["aliases"] and component.app is None:
            wrong.setdefault(component, []).append("aliases belong to components of an app; leave them out.")
        for alias in facts["aliases"]:
            holder = taken.setdefault((component.app, alias), name)
            if holder != name:
                wrong.setdefault(component, []).append(f"the alias {alias} is a name of {holder} already.")
    return wrong


def _camel_case(name: str) -> str:
    """``google_sheets`` as ``googleSheets``."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
