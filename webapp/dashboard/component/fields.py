"""The fields that a component's page draws: one :class:`Field` for each prop, with all that its control shows."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.models.components import Option, Prop
from webapp.dashboard.component import form_data, schedule_words, values
from webapp.dashboard.component.form import ComponentForm
from webapp.dashboard.component.form_data import FormData, InvalidValue, control
from webapp.dashboard.component.option_list import OptionList
from webapp.kit.translation import gettext

RADIOS = 4  # as many options stand side by side; more go into a list


@dataclass(frozen=True, slots=True)
class Field:
    """One prop with everything that its control shows."""

    prop: Prop
    kind: str
    id: str
    data: FormData
    error: str = ""
    option_list: OptionList | None = None
    accounts: Sequence[Account] = ()
    added: bool = False

    def value(self, part: str = "p") -> str:
        """The first value of a part."""
        return form_data.first(self.data, part, self.prop)

    def rows(self, keys: str, texts: str) -> list[tuple[str, str]]:
        """The rows of a key–value editor, and an empty one to write in."""
        return [*form_data.pairs(self.data, keys, texts, self.prop), ("", "")]

    @property
    def chosen(self) -> list[Option]:
        """The options that are chosen."""
        return values.chosen(self.prop, self.data)

    @property
    def picked(self) -> str:
        """What a closed picker says is chosen."""
        typed = [line for line in self.value("m").split("\n") if line.strip()]
        many = self.prop.type.endswith("[]")
        labels = [item.label for item in self.chosen]
        return ", ".join([*labels, *typed] if many else typed or labels)

    @property
    def listed(self) -> list[Option]:
        """The options of the open list, the chosen ones first where the page does not hold them."""
        options = list(self.option_list.options) if self.option_list else []
        chosen = [values.encode(item) for item in self.chosen]
        if self.option_list and self.option_list.page:
            return [item for item in options if values.encode(item) not in chosen]
        shown = {values.encode(item) for item in options}
        return [item for item in self.chosen if values.encode(item) not in shown] + options

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
        own = {name: texts for name, texts in form_data.of_prop(self.data, self.prop).items() if any(texts)}
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

    @property
    def schedule_in_words(self) -> str:
        """A schedule that is filled in, in words; "" while it is none."""
        try:
            return schedule_words.in_words(values.read(self.prop, self.data))
        except InvalidValue:
            return ""


@dataclass(frozen=True, slots=True)
class FieldGroups:
    """All fields: what must be answered, and what may be."""

    required: list[Field] = field(default_factory=list)
    optional: list[Field] = field(default_factory=list)

    @property
    def accounts(self) -> list[Account]:
        """The accounts that are chosen."""
        items = [item for item in [*self.required, *self.optional] if item.kind == "account"]
        return [account for item in items for account in item.accounts if account.id == item.value()]

    @property
    def needing(self) -> list[Account]:
        """Those among them that nothing but connecting them again can mend."""
        return [account for account in self.accounts if account.state == "needs-you"]

    @property
    def unfolded(self) -> bool:
        """Whether the optional fields stand open: something in them is new, filled in, wrong or being chosen."""
        answered = any(item.filled or item.error or item.option_list or item.added for item in self.optional)
        return answered or not any(item.kind not in ("account", "alert") for item in self.required)

    @property
    def reloads(self) -> bool:
        """Whether any answer brings other fields."""
        return any(item.prop.reloads for item in [*self.required, *self.optional])


def field_groups(
    form: ComponentForm,
    errors: Mapping[str, str] | None = None,
    option_lists: Mapping[str, OptionList] | None = None,
    added: Collection[str] = (),
) -> FieldGroups:
    """The fields of ``form``, in the order of its props; those called ``added`` have just appeared."""
    groups = FieldGroups()
    for prop in form.visible_props:
        field = field_of(form, prop, (errors or {}).get(prop.name, ""), (option_lists or {}).get(prop.name))
        field = replace(field, added=prop.name in added)
        (groups.optional if prop.optional else groups.required).append(field)
    return groups


def field_of(form: ComponentForm, prop: Prop, error: str = "", option_list: OptionList | None = None) -> Field:
    """One field of ``form``."""
    accounts = form.accounts(prop) if prop.type == "app" else ()
    return Field(prop, control(prop), form_data.element_id(prop.name), form.data, error, option_list, accounts)
