"""The keys of the public component registry that an app answers, which clients hard-code: ``registry.toml`` beside
``app.toml``.

It has a table for each key, named by the key without the app's slug. The table names the component of ours that
answers the key, and says for every prop that the registry requires which prop of ours takes its value, or false if ours
needs none, such as the site of a Jira account. ``optional`` does the same for props that callers may leave out. Every
prop that ours requires must be named by one of the two, so that no key is accepted whose calls cannot work.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from webapp.service.catalog.source_files import TomlFiles

FILE = "registry.toml"
UNUSED = ""  # the place of a prop whose value ours does not need


class RegistryKey(BaseModel):
    """One key: ``component`` is the name of ours, by default that of the key; the props of the registry are mapped to
    ours, or to False."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    component: str | None = None
    required: Mapping[str, str | Literal[False]] = {}
    optional: Mapping[str, str | Literal[False]] = {}

    @property
    def props(self) -> dict[str, str]:
        """The names of our props by those of the registry; :data:`UNUSED` for those that ours do without."""
        return {prop: ours or UNUSED for prop, ours in {**self.optional, **self.required}.items()}


Keys = Mapping[str, RegistryKey]


def load(folder: Path, digest: bytes, toml: TomlFiles) -> Keys:
    """The keys in the ``registry.toml`` of an app's ``folder``, of this ``digest``, which is empty if there is no file.

    Raises ``ValueError`` with a sentence about a file that cannot be read.
    """
    if not digest:
        return {}
    try:
        tables = toml.load(folder / FILE, digest)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"it cannot be read as TOML ({error}).") from error
    return {name: _read(name, fields) for name, fields in tables.items()}


def _read(name: str, fields: Any) -> RegistryKey:
    """One key. Raises ``ValueError``."""
    try:
        return RegistryKey.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join([name, *map(str, first["loc"])])
        raise ValueError(f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}.") from error


def names(keys: Keys, component: str) -> list[str]:
    """The further names of our ``component``: the keys that it answers."""
    return [name for name, key in keys.items() if name != component and (key.component or name) == component]


def props(keys: Keys, component: str) -> dict[str, str]:
    """The names of the props of our ``component`` by those that the registry's keys use, and :data:`UNUSED`."""
    mapped: dict[str, str] = {}
    for name, key in keys.items():
        if (key.component or name) == component:
            mapped |= key.props
    return mapped


def problems(keys: Keys, components: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """The problems of an app's keys, as sentences by key; keys without a problem are left out.

    ``components`` are the app's declarations by their names, in the newest version: ``aliases``, ``prop_aliases`` and
    ``configurable_props`` are read.
    """
    judged = {name: list(_problems(name, keys, components)) for name in keys}
    return {name: sentences for name, sentences in judged.items() if sentences}


def _problems(name: str, keys: Keys, components: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    further = {alias: component for component, facts in components.items() for alias in facts["aliases"]}
    ours = keys[name].component or name
    if ours not in components:
        yield f"there is no component {ours} in this app."
    elif name != ours and name in components:
        yield "a component has this name itself; only that one can answer it."
    elif name in further:
        yield f"{further[name]} has this name as an alias already; name it once."
    else:
        others = {other: key for other, key in keys.items() if other != name}
        yield from _wrong(keys[name], components[ours], props(others, ours))


def _wrong(key: RegistryKey, facts: Mapping[str, Any], elsewhere: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the props of one key. ``elsewhere`` is what other keys of the same component say."""
    own = {prop["name"]: prop for prop in facts["configurable_props"]}
    for prop, ours in key.props.items():
        if prop in own and prop != ours:
            yield f"{prop} is a prop of ours itself; it cannot stand for {ours or 'nothing'}."
        elif ours != UNUSED and ours not in own:
            yield f"{prop} stands for {ours}, which is no prop of the component."
        elif elsewhere.get(prop, ours) != ours or facts["prop_aliases"].get(prop, ours) != ours:
            yield f"{prop} stands for another prop elsewhere; a name means one prop of a component."
    for name, prop in own.items():
        if _must_be_filled(prop) and name not in key.props.values():
            yield f"{name} must be filled, and no prop of this key stands for it."


def _must_be_filled(prop: Mapping[str, Any]) -> bool:
    return (
        not prop.get("optional")
        and "default" not in prop
        and prop["type"] not in ("app", "alert")
        and not prop["type"].startswith("$.")
    )
