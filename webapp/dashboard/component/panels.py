"""The list inside a picker: one page of options, how many are shown, and what leads to the next page.

The API tells neither how many options there are nor whether more follow. So a panel says what it knows: a total where
the component gives one, else how many are shown; and a page that repeats the one before, or is empty, is the end.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import request

from webapp.dashboard.client.components import OptionsQuery
from webapp.dashboard.client.models.components import Choices, Option, Prop
from webapp.dashboard.component import values
from webapp.dashboard.component.desk import Desk
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext

FEW = 10  # a shorter first page without a context is all there is
_OWN = frozenset({"dbInfo", "total", "total_count"})


@dataclass(frozen=True, slots=True)
class Panel:
    """What one look-up gave. ``shown`` counts the pages before as well; ``carry`` is what the next look-up needs."""

    options: Sequence[Option] = ()
    query: str = ""
    page: int = 0
    shown: int = 0
    total: int | None = None
    more: bool = False
    problem: str = ""
    carry: str = ""
    tables: Mapping[str, Sequence[tuple[str, str]]] | None = None

    def sentence(self, prop: Prop) -> str:
        """How much of everything this is."""
        said = self._found() if self.query else self._listed()
        shown, total = f"{self.shown:,}", f"{self.total or 0:,}"
        if prop.searchable and not self.query and self._goes_on:
            said = gettext("{how_many} Type to search all of them.").format(how_many=said)
        return said.format(shown=shown, total=total)

    @property
    def _goes_on(self) -> bool:
        return bool(self.shown) and (self.more or (self.total is not None and self.total > self.shown))

    def _found(self) -> str:
        if not self.shown:
            return gettext("Nothing matches. Try other words.")
        if self.total is not None and self.total > self.shown:
            return gettext("First {shown} of {total} found.")
        if self.more:
            return gettext("First {shown} found.")
        return gettext("All {shown} found.") if self.shown > 3 else ""

    def _listed(self) -> str:
        if not self.shown:
            return gettext("There is nothing to choose from here.")
        if self.total is not None and self.total > self.shown:
            return gettext("First {shown} of {total} shown.")
        if self.more:
            return gettext("First {shown} shown.")
        return gettext("All {shown} shown.") if self.shown > 3 else ""


def look_up(desk: Desk, prop: Prop, *, more: bool) -> Panel:
    """Ask the service for options as the form says: its query, or the page after the one it shows."""
    query = request.form.get(f"q.{prop.name}", "").strip()[:500]
    before = _carried(prop) if more else {}
    if before:
        query = before["query"]
    page = before["page"] + 1 if before else 0
    try:
        found = desk.choices(OptionsQuery(prop.name, query, page, before.get("context")))
    except PatchbayError as error:
        found = Choices(errors=(error.message,))
    if found.problem:
        return Panel(query=query, page=page, shown=before.get("shown", 0), problem=found.problem,
                     carry=json.dumps(before) if before else "", more=bool(before))  # fmt: skip
    return _panel(prop, found, query, page, before)


def _panel(prop: Prop, found: Choices, query: str, page: int, before: Mapping[str, Any]) -> Panel:
    mark = hashlib.sha256(json.dumps([values.encode(item) for item in found.options]).encode()).hexdigest()[:16]
    options = () if before and before["mark"] == mark else found.options
    shown = before.get("shown", 0) + len(options)
    context = {name: value for name, value in (found.context or {}).items() if name not in _OWN}
    whole = found.total is not None and shown >= found.total
    more = bool(options) and not whole and (bool(context) or len(options) >= FEW)
    carry = {"page": page, "query": query, "context": found.context, "shown": shown, "mark": mark}
    return Panel(
        options, query, page, shown, found.total, more, "", json.dumps(carry) if more else "",
        tables=_tables(found.context),
    )  # fmt: skip


def _carried(prop: Prop) -> dict[str, Any]:
    """What the page's last look-up left behind; an empty one when a browser made something up."""
    try:
        found = json.loads(request.form.get(f"o.{prop.name}", ""))
    except (ValueError, RecursionError):
        return {}
    kinds = {"page": int, "query": str, "shown": int, "mark": str}
    if not isinstance(found, dict) or not all(isinstance(found.get(name), kind) for name, kind in kinds.items()):
        return {}
    context = found.get("context")
    return {**{name: found[name] for name in kinds}, "context": context if isinstance(context, dict) else None}


def _tables(context: Mapping[str, Any] | None) -> dict[str, list[tuple[str, str]]] | None:
    """Tables with their columns and types, from ``context.dbInfo`` (WIRE "Configure")."""
    info = (context or {}).get("dbInfo")
    if not isinstance(info, dict):
        return None
    found: dict[str, list[tuple[str, str]]] = {}
    for table, told in info.items():
        schema = told.get("schema") if isinstance(told, dict) else None
        columns = schema if isinstance(schema, dict) else {}
        found[str(table)] = [
            (str(name), str(column.get("dataType") or "") if isinstance(column, dict) else "")
            for name, column in columns.items()
        ]
    return found
