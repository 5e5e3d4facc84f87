"""What a person configures of a trigger: its name and its values, checked as a whole before anything changes."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.errors import Detail, Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants, prop_values
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import schedules
from webapp.service.domain.triggers.native import EmitterKind
from webapp.store.contract import Reader

MAX_NAME = 200
MAX_SLUG = 60
MAX_VALUES = 1024 * 1024  # they are read at each run, and a list shows those of a hundred triggers


@dataclass(frozen=True, slots=True)
class TriggerValues:
    """Values that were checked. ``configured`` are the values as they were given, without null and unknown names."""

    configured: Mapping[str, Any] = field(repr=False)
    accounts: Mapping[str, str]
    schedule: dict[str, Any] | None


def checked_values(
    service: Service,
    scene: Scene,
    external_id: str,
    kind: EmitterKind,
    props: list[dict[str, Any]],
    given: Mapping[str, Any],
) -> TriggerValues:
    """``given`` as values for a trigger with ``props``.

    Raises :class:`Invalid` for a value that is missing, wrong or too large and for a schedule that is not allowed,
    :class:`webapp.errors.NotFound` for an account that is not this user's.
    """
    values = prop_values.checked(props, given, whole=True)
    floor_s = 1 if kind.emitter == "timer" else service.settings.min_poll_s
    schedule = schedules.chosen(props, values.props, floor_s=floor_s)
    grants.find_accounts(service, scene, external_id, props, values.accounts)
    known = {prop["name"] for prop in props if prop["type"] != "alert"}
    kept = {name: value for name, value in given.items() if name in known and value is not None}
    if len(orjson.dumps(kept)) > MAX_VALUES:
        message = "Together the values may have at most 1 MiB as JSON; give less."
        raise Invalid(f"configured_props is not valid: {message}", [Detail("configured_props", message)])
    return TriggerValues(kept, values.accounts, schedule)


def merged_values(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``before`` with ``changes`` over it, key by key; null removes (contract "Updating")."""
    return {name: value for name, value in {**before, **changes}.items() if value is not None}


def checked_name(name: str) -> str:
    """``name`` without outer spaces. Raises :class:`Invalid`."""
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        message = f"Use 1 to {MAX_NAME} printable characters."
        raise Invalid(f"The name is not valid: {message}", [Detail("name", message)])
    return name


def free_slug(reader: Reader, external_user_id: str, name: str, *, but: str = "") -> str:
    """The slug for a trigger called ``name``: with -2, -3, … where another (not ``but``) of the user has it."""
    base = _slug(name)
    rows = reader.all(
        "SELECT name_slug FROM deployed_triggers WHERE external_user_id = :user AND id <> :but "
        "AND name_slug >= :base AND name_slug < :above",
        {"user": external_user_id, "but": but, "base": base, "above": base + "\U0010ffff"},
    )
    taken = {row["name_slug"] for row in rows}
    number = 1
    while (slug := base if number == 1 else f"{base}-{number}") in taken:
        number += 1
    return slug


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG].strip("-") or "trigger"
