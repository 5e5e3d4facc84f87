"""The fields of a component's page: one :class:`Field` for each prop, with everything that its control shows.

The list in a picker is a page of options. The API returns neither a total nor whether there are more, so the list shows
the total if the component gives one, or else the number of options shown. A page that repeats the one before, or is
empty, is the last.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flask import request

from webapp.dashboard.client.components import OptionsQuery
from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.models.components import Choices, Option, Prop
from webapp.dashboard.component import prop_values
from webapp.dashboard.component.forms import ComponentForm
from webapp.dashboard.component.prop_values import VALUE, FormData, InvalidValue, control, field_name
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext, translated
from webapp.kit.translation import lazy as _

FEW = 10  # a shorter first page without a context is complete
_OWN = frozenset({"dbInfo", "total", "total_count"})
# What a list says: that it is empty, has some of a total, has some, or is complete.
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
RADIOS = 4  # up to this many options are radio buttons; more are a list


@dataclass(frozen=True, slots=True)
class OptionList:
    """The result of a look-up. ``shown`` includes earlier pages; ``carry`` is the state for the next look-up."""

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
        """How many of the options are shown, in words."""
        nothing, some_of, some, everything = _FOUND if self.query else _SHOWN
        goes_on = self.total is not None and self.total > self.shown
        sentence = some_of if goes_on else some if self.more else everything if self.shown > 3 else ""
        if not self.shown:
            sentence = nothing
        elif prop.searchable and not self.query and (self.more or goes_on):
            sentence = gettext("{how_many} Type to search all of them.").format(how_many=sentence)
        return sentence.format(shown=f"{self.shown:,}", total=f"{self.total or 0:,}")


def look_up(form: ComponentForm, prop: Prop, *, more: bool) -> OptionList:
    """Look up options: the matches of the form's query, or the next page."""
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
    mark = hashlib.sha256(json.dumps([prop_values.encode(item) for item in choices.options]).encode()).hexdigest()[:16]
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
    """The state of the page's last look-up; empty if the browser sent something invalid."""
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


@dataclass(frozen=True, slots=True)
class Field:
    """A prop with everything that its control shows."""

    prop: Prop
    kind: str
    id: str
    data: FormData
    error: str = ""
    option_list: OptionList | None = None
    accounts: Sequence[Account] = ()
    added: bool = False

    def value(self, part: str = VALUE) -> str:
        """The first value of a part."""
        return prop_values.first(self.data, part, self.prop)

    def rows(self, keys: str, texts: str) -> list[tuple[str, str]]:
        """The rows of a key–value editor, and an empty one."""
        return [*prop_values.pairs(self.data, keys, texts, self.prop), ("", "")]

    @property
    def chosen(self) -> list[Option]:
        """The selected options."""
        return prop_values.chosen(self.prop, self.data)

    @property
    def picked(self) -> str:
        """The text of a closed picker."""
        typed = [line for line in self.value("m").split("\n") if line.strip()]
        many = self.prop.type.endswith("[]")
        labels = [item.label for item in self.chosen]
        return ", ".join([*labels, *typed] if many else typed or labels)

    @property
    def listed(self) -> list[Option]:
        """The options of the open list, after selected ones that the page does not have."""
        options = list(self.option_list.options) if self.option_list else []
        chosen = [prop_values.encode(item) for item in self.chosen]
        if self.option_list and self.option_list.page:
            return [item for item in options if prop_values.encode(item) not in chosen]
        shown = {prop_values.encode(item) for item in options}
        return [item for item in self.chosen if prop_values.encode(item) not in shown] + options

    @property
    def takes_several(self) -> bool:
        """Whether it holds several values."""
        return self.prop.type.endswith("[]")

    @property
    def as_radios(self) -> bool:
        """Whether the options are few and short enough for radio buttons."""
        options = self.prop.options
        return len(options) <= RADIOS and sum(len(item.label) for item in options) <= 60

    @property
    def as_check(self) -> bool:
        """Whether a boolean is a check box; an optional one without a default also has an empty choice."""
        return not self.prop.optional or isinstance(self.prop.default, bool)

    @property
    def filled(self) -> bool:
        """Whether the value differs from the default."""
        own = {name: texts for name, texts in prop_values.of_prop(self.data, self.prop).items() if any(texts)}
        start = {name: texts for name, texts in prop_values.started(self.prop).items() if any(texts)}
        is_unchecked = self.kind == "boolean" and own.get(field_name(self.prop.name)) == ["false"]
        return bool(own) and own != start and not is_unchecked

    @property
    def limits(self) -> str:
        """The bounds of a number in words."""
        low, high = self.prop.min, self.prop.max
        if low is not None and high is not None:
            return gettext("From {low} to {high}.").format(low=f"{low:,}", high=f"{high:,}")
        if low is not None:
            return gettext("At least {low}.").format(low=f"{low:,}")
        return gettext("At most {high}.").format(high=f"{high:,}") if high is not None else ""

    @property
    def fixed(self) -> str:
        """The value of a read-only prop."""
        default = self.prop.default
        return default if isinstance(default, str) else "" if default is None else json.dumps(default)

    @property
    def schedule_in_words(self) -> str:
        """The entered schedule in words, or "" if it is not valid."""
        try:
            return prop_values.schedule_in_words(prop_values.read_value(self.prop, self.data))
        except InvalidValue:
            return ""


@dataclass(frozen=True, slots=True)
class FieldGroups:
    """All fields: the required and the optional ones."""

    required: list[Field] = field(default_factory=list)
    optional: list[Field] = field(default_factory=list)

    @property
    def accounts(self) -> list[Account]:
        """The selected accounts."""
        items = [item for item in [*self.required, *self.optional] if item.kind == "account"]
        return [account for item in items for account in item.accounts if account.id == item.value()]

    @property
    def needing(self) -> list[Account]:
        """The selected accounts that must be connected again."""
        return [account for account in self.accounts if account.state == "needs-you"]

    @property
    def unfolded(self) -> bool:
        """Whether the optional fields are unfolded: one is new, has a value or an error, or its list is open."""
        answered = any(item.filled or item.error or item.option_list or item.added for item in self.optional)
        return answered or not any(item.kind not in ("account", "alert") for item in self.required)

    @property
    def has_files(self) -> bool:
        """Whether files can be chosen."""
        return any(item.kind == "file" for item in [*self.required, *self.optional])

    @property
    def reloads(self) -> bool:
        """Whether any value changes the fields."""
        return any(item.prop.reloads for item in [*self.required, *self.optional])


def field_groups(
    form: ComponentForm,
    errors: Mapping[str, str] | None = None,
    option_lists: Mapping[str, OptionList] | None = None,
    added: Collection[str] = (),
) -> FieldGroups:
    """The fields of ``form``, in the order of its props; those named in ``added`` are new."""
    groups = FieldGroups()
    for prop in form.visible_props:
        field = field_of(form, prop, (errors or {}).get(prop.name, ""), (option_lists or {}).get(prop.name))
        field = replace(field, added=prop.name in added)
        (groups.optional if prop.optional else groups.required).append(field)
    return groups


def field_of(form: ComponentForm, prop: Prop, error: str = "", option_list: OptionList | None = None) -> Field:
    """A field of ``form``."""
    accounts = form.accounts(prop) if prop.type == "app" else ()
    return Field(prop, control(prop), prop_values.element_id(prop.name), form.data, error, option_list, accounts)
