"""The list inside a picker: one page of options, how many are shown, and what leads to the next page.

The API tells neither how many options there are nor whether more follow. So the list says what it knows: a total where
the component gives one, else how many are shown. A page that repeats the one before, or is empty, is the last.
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
from webapp.dashboard.component.form import ComponentForm
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext, translated
from webapp.kit.translation import lazy as _

FEW = 10  # a shorter first page without a context is all there is
_OWN = frozenset({"dbInfo", "total", "total_count"})
# What a list says of itself: that nothing is there, some of how many, some, or everything.
_FOUND = (
    _("Nothing matches. Try other words."),
    _("First {shown} of {total} found."),
    _("First {shown} found."),
    _("All {shown} found."),
)
_SHOWN = (
    _("There is nothing to choose from here."),
    _("First {shown} of {total} shown."),
    _("First {shown} shown."),
    _("All {shown} shown."),
)


@dataclass(frozen=True, slots=True)
class OptionList:
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
        nothing, some_of, some, everything = _FOUND if self.query else _SHOWN
        goes_on = self.total is not None and self.total > self.shown
        sentence = some_of if goes_on else some if self.more else everything if self.shown > 3 else ""
        if not self.shown:
            sentence = nothing
        elif prop.searchable and not self.query and (self.more or goes_on):
            sentence = gettext("{how_many} Type to search all of them.").format(how_many=sentence)
        return sentence.format(shown=f"{self.shown:,}", total=f"{self.total or 0:,}")


def look_up(form: ComponentForm, prop: Prop, *, more: bool) -> OptionList:
    """Ask the service for options as the form says: its query, or the page after the one it shows."""
    query = request.form.get(f"q.{prop.name}", "").strip()[:500]
    before = _carried(prop) if more else {}
    if before:
        query = before["query"]
    page = before["page"] + 1 if before else 0
    try:
        choices = form.options(OptionsQuery(prop.name, query, page, before.get("context")))
    except PatchbayError as error:
        choices = Choices(errors=(error.message,))
    if choices.problem:
        return OptionList(query=query, page=page, shown=before.get("shown", 0), problem=translated(choices.problem),
                     carry=json.dumps(before) if before else "", more=bool(before))  # fmt: skip
    return _option_list(prop, choices, query, page, before)


def _option_list(prop: Prop, choices: Choices, query: str, page: int, before: Mapping[str, Any]) -> OptionList:
    mark = hashlib.sha256(json.dumps([values.encode(item) for item in choices.options]).encode()).hexdigest()[:16]
    options = () if before and before["mark"] == mark else choices.options
    shown = before.get("shown", 0) + len(options)
    context = {name: value for name, value in (choices.context or {}).items() if name not in _OWN}
    whole = choices.total is not None and shown >= choices.total
    more = bool(options) and not whole and (bool(context) or len(options) >= FEW)
    carry = {"page": page, "query": query, "context": choices.context, "shown": shown, "mark": mark}
    return OptionList(
        options, query, page, shown, choices.total, more, "", json.dumps(carry) if more else "",
        tables=_tables(choices.context),
    )  # fmt: skip


def _carried(prop: Prop) -> dict[str, Any]:
    """What the page's last look-up left behind; an empty one when a browser made something up."""
    try:
        carried = json.loads(request.form.get(f"o.{prop.name}", ""))
    except (ValueError, RecursionError):
        return {}
    kinds = {"page": int, "query": str, "shown": int, "mark": str}
    if not isinstance(carried, dict) or not all(isinstance(carried.get(name), kind) for name, kind in kinds.items()):
        return {}
    context = carried.get("context")
    return {**{name: carried[name] for name in kinds}, "context": context if isinstance(context, dict) else None}


def _tables(context: Mapping[str, Any] | None) -> dict[str, list[tuple[str, str]]] | None:
    """Tables with their columns and types, from ``context.dbInfo`` (contract "Configure")."""
    info = (context or {}).get("dbInfo")
    if not isinstance(info, dict):
        return None
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, details in info.items():
        schema = details.get("schema") if isinstance(details, dict) else None
        columns = schema if isinstance(schema, dict) else {}
        tables[str(table)] = [
            (str(name), str(column.get("dataType") or "") if isinstance(column, dict) else "")
            for name, column in columns.items()
        ]
    return tables
