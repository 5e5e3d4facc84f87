"""The names of deployed triggers: what may be one, and the slug of each, which is unique among its user's triggers."""

import re
import unicodedata

from webapp.errors import Detail, Invalid
from webapp.store.contract import Reader

MAX_NAME = 200
MAX_SLUG = 60


def checked(name: str) -> str:
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
