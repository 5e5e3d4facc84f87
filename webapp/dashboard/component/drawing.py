"""What the templates of a component's page draw from: one :class:`Field` for each prop, in the order of the page."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.models.components import Option, Prop
from webapp.dashboard.component import form_fields, schedule_words, structured, values
from webapp.dashboard.component.desk import Desk
from webapp.dashboard.component.form_fields import Fields, control
from webapp.dashboard.component.panels import Panel
from webapp.dashboard.problems import Problem
from webapp.kit.translation import gettext

RADIOS = 4  # as many options stand side by side; more go into a list
LONGEST_JSON = 200_000


@dataclass(frozen=True, slots=True)
class Field:
    """One prop with everything that its control shows."""

    prop: Prop
    kind: str
    id: str
    fields: Fields
    error: str = ""
    panel: Panel | None = None
    accounts: Sequence[Account] = ()

    def one(self, part: str = "p") -> str:
        """The first value of a part."""
        return form_fields.first(self.fields, part, self.prop)

    def rows(self, keys: str, texts: str) -> list[tuple[str, str]]:
        """The rows of a key–value editor, and an empty one to write in."""
        return [*form_fields.pairs(self.fields, keys, texts, self.prop), ("", "")]

    @property
    def chosen(self) -> list[Option]:
        """The options that are chosen."""
        return values.chosen(self.prop, self.fields)

    @property
    def picked(self) -> str:
        """What a closed picker says is chosen."""
        typed = [line for line in self.one("m").split("\n") if line.strip()]
        many = self.prop.type.endswith("[]")
        labels = [item.label for item in self.chosen]
        return ", ".join([*labels, *typed] if many else typed or labels)

    @property
    def listed(self) -> list[Option]:
        """The options of the open panel, the chosen ones first where the page does not hold them."""
        found = list(self.panel.options) if self.panel else []
        known = [values.encode(item) for item in self.chosen]
        if self.panel and self.panel.page:
            return [item for item in found if values.encode(item) not in known]
        shown = {values.encode(item) for item in found}
        return [item for item in self.chosen if values.encode(item) not in shown] + found

    @property
    def as_radios(self) -> bool:
        """Whether the choices are few and short enough to stand side by side."""
        options = self.prop.options
        return len(options) <= RADIOS and sum(len(item.label) for item in options) <= 60

    @property
    def as_check(self) -> bool:
        """Whether a boolean is a tick; an optional one without a default can be left unsaid as well."""
        return not self.prop.optional or isinstance(self.prop.default, bool)

    @property
    def filled(self) -> bool:
        """Whether somebody answered here, beyond the default."""
        own = {name: texts for name, texts in form_fields.of_prop(self.fields, self.prop).items() if any(texts)}
        start = {name: texts for name, texts in values.started(self.prop).items() if any(texts)}
        return (
            bool(own) and own != start and not (self.kind == "boolean" and own.get(f"p.{self.prop.name}") == ["false"])
        )

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
        """The value of a prop that nobody can change here."""
        default = self.prop.default
        return default if isinstance(default, str) else "" if default is None else json.dumps(default)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The whole form: what must be answered, and what may be."""

    required: list[Field] = field(default_factory=list)
    optional: list[Field] = field(default_factory=list)

    @property
    def unfolded(self) -> bool:
        """Whether the optional fields stand open: something in them is filled in, wrong or being chosen."""
        answered = any(item.filled or item.error or item.panel for item in self.optional)
        return answered or not any(item.kind not in ("account", "alert") for item in self.required)

    @property
    def reloads(self) -> bool:
        """Whether any answer brings other fields."""
        return any(item.prop.reloads for item in [*self.required, *self.optional])


def sheet(desk: Desk, errors: Mapping[str, str] | None = None, panels: Mapping[str, Panel] | None = None) -> Sheet:
    """The fields of ``desk``."""
    found = Sheet()
    for prop in desk.asked:
        one = draw(desk, prop, (errors or {}).get(prop.name, ""), (panels or {}).get(prop.name))
        (found.required if form_fields.needed(prop) else found.optional).append(one)
    return found


def draw(desk: Desk, prop: Prop, error: str = "", panel: Panel | None = None) -> Field:
    """One field of ``desk``."""
    accounts = desk.accounts(prop) if prop.type == "app" else ()
    return Field(prop, control(prop), form_fields.element_id(prop.name), desk.fields, error, panel, accounts)


def schedule(field: Field) -> str:
    """A schedule that is filled in, in words; "" while it is none."""
    try:
        return schedule_words.in_words(values.read(field.prop, field.fields))
    except Problem:
        return ""


_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)')


def json_html(value: Any, longest: int = LONGEST_JSON) -> Markup:
    """``value`` as indented JSON with its keys and strings coloured; what is very long is cut."""
    text = json.dumps(value, ensure_ascii=False, indent=2)[:longest]
    pieces, at = [], 0
    for found in _TOKEN.finditer(text):
        pieces.append(escape(text[at : found.start()]))
        if found[1]:
            pieces.append(
                Markup('<span class="{}">{}</span>{}').format("k" if found[2] else "s", found[1], found[2] or "")
            )
        else:
            pieces.append(escape(found[0]))
        at = found.end()
    return Markup("").join([*pieces, escape(text[at:])])


METHODS, BODIES, AUTHS, UNITS = structured.METHODS, structured.BODIES, structured.AUTHS, structured.UNITS
