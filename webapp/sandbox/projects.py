"""The sandbox's 200 projects, each with its own custom fields. Owns their table, filled once from ``projects.toml``."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from webapp.sandbox.store import Page, Store, Window

COUNT = 200
_DATA = tomllib.loads((Path(__file__).parent / "projects.toml").read_text("utf-8"))
PLACES: list[str] = _DATA["places"]
WORKS: list[str] = _DATA["works"]


class Field(TypedDict):
    """A custom field: ``type`` is text, number, choice or boolean; only a choice has ``choices``."""

    key: str
    label: str
    type: str
    required: bool
    choices: list[str]


FIELDS: list[Field] = _DATA["fields"]


@dataclass(frozen=True, slots=True)
class Project:
    """A project and the custom fields its tasks may fill in."""

    id: str
    name: str
    fields: tuple[Field, ...]

    def to_json(self) -> dict[str, Any]:
        """The project, as the API returns it; its fields have their own path."""
        return {"id": self.id, "name": self.name, "field_count": len(self.fields)}


class Projects:
    """The projects in ``store``, which are created if it has none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.write() as db:
            if not db.table("projects").count:
                db.table("projects").insert_all(_seed(number) for number in range(1, COUNT + 1))

    def get(self, project_id: str) -> Project | None:
        """The project with this id, or None."""
        with self._store.read() as db:
            rows = list(db.query("SELECT * FROM projects WHERE id = ?", [project_id]))
        return _project(rows[0]) if rows else None

    def search(self, text: str, window: Window) -> Page[Project]:
        """A page of the projects whose name contains ``text``, ignoring case, by name."""
        where = "FROM projects WHERE holds(name, :text)"
        params = {"text": text, "limit": window.per_page, "offset": window.offset}
        with self._store.read() as db:
            rows = list(db.query(f"SELECT * {where} ORDER BY name, id LIMIT :limit OFFSET :offset", params))
            total = next(iter(db.query(f"SELECT count(*) AS n {where}", {"text": text})))["n"]
        return Page([_project(row) for row in rows], window, total)

    def all(self) -> list[Project]:
        """Every project by name, for a drop-down."""
        with self._store.read() as db:
            return [_project(row) for row in db.query("SELECT * FROM projects ORDER BY name, id")]


def _seed(number: int) -> dict[str, str]:
    """The row of project ``number``, the same in every installation, with 0 to 4 of the custom fields."""
    index = number - 1
    place, work = PLACES[index % len(PLACES)], WORKS[index // len(PLACES) % len(WORKS)]
    name = f"{place} {work}" if index < COUNT // 2 else f"{place} {work} II"
    start, size = index * 3 % len(FIELDS), index % 5
    fields = [FIELDS[(start + step) % len(FIELDS)] for step in range(size)]
    return {"id": f"prj_{number:03d}", "name": name, "fields": json.dumps(fields)}


def _project(row: Mapping[str, Any]) -> Project:
    return Project(row["id"], row["name"], tuple(json.loads(row["fields"])))
