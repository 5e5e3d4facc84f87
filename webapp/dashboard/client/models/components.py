"""Components, their props and options as the Connect API tells them (specification 2.5–2.6a, WIRE "Prop types").

Reading is lenient like in :mod:`.accounts`: a field that is missing or of another type gets a plain default, because
the service may be any that speaks this API.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.dashboard.client.models import reading
from webapp.dashboard.client.models.reading import Json
from webapp.dashboard.client.models.runs import observations
from webapp.kit.translation import gettext

Effect = Literal["reads", "changes", "destroys"]
Kind = Literal["actions", "triggers"]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose; ``value`` is a string, an integer or a boolean."""

    label: str
    value: Any


@dataclass(frozen=True, slots=True)
class Prop:
    """One configurable prop (specification 2.6). ``raw`` is what the service sent, for keeping."""

    name: str
    type: str
    label: str
    description: str = ""
    optional: bool = False
    disabled: bool = False
    read_only: bool = False
    hidden: bool = False
    remote: bool = False
    searchable: bool = False
    reloads: bool = False
    with_label: bool = False
    secret: bool = False
    default: Any = None
    min: int | None = None
    max: int | None = None
    format: str = ""
    options: tuple[Option, ...] = ()
    app: str = ""
    content: str = ""
    tone: str = "info"
    raw: Json = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Component:
    """An action or a trigger that can be configured."""

    key: str
    name: str
    version: str
    description: str
    kind: Kind
    props: tuple[Prop, ...]
    effect: Effect

    @property
    def delivery(self) -> str:
        """How a trigger learns of news: ``Polling`` when it has a schedule, else ``Instant``."""
        return "Polling" if any(prop.type == "$.interface.timer" for prop in self.props) else "Instant"


@dataclass(frozen=True, slots=True)
class Choices:
    """The answer of ``configure``: a page of options, what the next page needs, and what went wrong."""

    options: tuple[Option, ...]
    context: Json | None
    problem: str

    @property
    def total(self) -> int | None:
        """How many options there are in all, where the component tells."""
        for key in ("total", "total_count"):
            found = (self.context or {}).get(key)
            if isinstance(found, int) and not isinstance(found, bool):
                return found
        return None


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The answer of reloading props: their id and the whole new list."""

    id: str
    props: tuple[Prop, ...]
    problem: str


def component(data: Json) -> Component:
    """A Component of section 2.5."""
    hints = reading.mapping(data, "annotations")
    kind: Kind = "actions" if data.get("component_type") == "action" else "triggers"
    effect: Effect = "destroys" if hints.get("destructiveHint") is True else "changes"
    return Component(
        key=reading.text(data, "key"),
        name=reading.text(data, "name") or reading.text(data, "key"),
        version=reading.text(data, "version"),
        description=reading.text(data, "description"),
        kind=kind,
        props=props(data.get("configurable_props")),
        effect="reads" if hints.get("readOnlyHint") is True else effect,
    )


def props(data: object) -> tuple[Prop, ...]:
    """A list of configurable props; entries without a name are left out."""
    found = data if isinstance(data, list) else []
    return tuple(prop(item) for item in found if isinstance(item, dict) and reading.text(item, "name"))


def prop(data: Json) -> Prop:
    """A configurable prop of section 2.6."""
    name = reading.text(data, "name")
    return Prop(
        name=name,
        type=reading.text(data, "type") or "any",
        label=reading.text(data, "label") or _spoken(name),
        description=reading.text(data, "description"),
        optional=data.get("optional") is True,
        disabled=data.get("disabled") is True,
        read_only=data.get("readOnly") is True,
        hidden=data.get("hidden") is True,
        remote=data.get("remoteOptions") is True,
        searchable=data.get("useQuery") is True,
        reloads=data.get("reloadProps") is True,
        with_label=data.get("withLabel") is True,
        secret=data.get("secret") is True,
        default=data.get("default"),
        min=reading.number(data, "min"),
        max=reading.number(data, "max"),
        format=reading.text(data, "format"),
        options=options(data.get("options")),
        app=reading.text(data, "app") or reading.text(reading.mapping(data, "auth"), "app"),
        content=reading.text(data, "content"),
        tone={"warning": "warn", "error": "bad", "neutral": ""}.get(reading.text(data, "alertType"), "info"),
        raw=data,
    )


def options(data: object) -> tuple[Option, ...]:
    """Options as bare values, as ``{label, value}`` or as ``{__lv: {label, value}}``."""
    return tuple(option(item) for item in data if item is not None) if isinstance(data, list) else ()


def option(data: object) -> Option:
    """One option, or one value with or without its label."""
    if isinstance(data, dict) and isinstance(data.get("__lv"), dict):
        data = data["__lv"]
    if isinstance(data, dict) and "value" in data:
        return Option(str(data.get("label") or plain(data["value"])), data["value"])
    return Option(plain(data), data)


def plain(value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return gettext("Yes") if value else gettext("No")
    return value if isinstance(value, str) else str(value)


def choices(data: Json) -> Choices:
    """The answer of section 4.6."""
    found = options(data.get("options")) or options(data.get("stringOptions"))
    context = data.get("context")
    return Choices(found, context if isinstance(context, dict) else None, _problem(data))


def reloaded(data: Json) -> Reloaded:
    """The answer of section 4.7."""
    dynamic = reading.mapping(data, "dynamicProps")
    return Reloaded(reading.text(dynamic, "id"), props(dynamic.get("configurableProps")), _problem(data))


def _problem(data: Json) -> str:
    """Why a look-up failed, in the service's own words; "" when it did not."""
    errors = data.get("errors")
    said = [item for item in errors if isinstance(item, str)] if isinstance(errors, list) else []
    failed = [line.text for line in observations(data.get("observations")) if line.kind == "error"]
    return " ".join(said or failed)


def _spoken(name: str) -> str:
    """``projectId`` and ``project_id`` as ``Project id``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\s]+", " ", name).strip().lower()
    return words[:1].upper() + words[1:] if words else name


def labels(names: Sequence[Prop]) -> str:
    """The labels of some props in one sentence's middle."""
    return ", ".join(prop.label for prop in names)
