"""Components, their props and options as the Connect API tells them (contract "Components", "Prop types")."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasChoices, AliasPath, Field, PlainValidator

from webapp.dashboard.client.models.lenient import Json, Lenient, NonEmpty, PieceOrigin
from webapp.dashboard.client.models.runs import Observation
from webapp.kit import text
from webapp.kit.translation import gettext

Effect = Literal["reads", "changes", "spends", "destroys"]
Kind = Literal["actions", "triggers"]
_TONES = {"warning": "warn", "error": "bad", "neutral": ""}


class Option(NamedTuple):
    """One thing to choose; ``value`` is a string, an integer or a boolean."""

    label: str
    value: Any


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


def _label(data: dict[str, Any]) -> str:
    """``projectId`` and ``project_id`` as ``Project id``."""
    name = data["name"]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\s]+", " ", name).strip().lower()
    return words[:1].upper() + words[1:] if words else name


Options = Annotated[tuple[Option, ...], PlainValidator(options)]


class PropApp(Lenient):
    """Which app's account a prop takes, if it takes one."""

    type: NonEmpty = "any"
    app: str = Field(default="", validation_alias=AliasChoices("app", AliasPath("auth", "app")))


class Prop(PropApp):
    """One configurable prop (contract "Props")."""

    name: NonEmpty
    label: NonEmpty = Field(default_factory=_label)
    description: str = ""
    optional: bool = False
    disabled: bool = False
    read_only: bool = Field(default=False, alias="readOnly")
    hidden: bool = False
    remote: bool = Field(default=False, alias="remoteOptions")
    searchable: bool = Field(default=False, alias="useQuery")
    reloads: bool = Field(default=False, alias="reloadProps")
    with_label: bool = Field(default=False, alias="withLabel")
    secret: bool = False
    default: Any = None
    min: int | None = None
    max: int | None = None
    format: str = ""
    options: Options = ()
    content: str = ""
    alert_type: str = Field(default="", alias="alertType")

    @property
    def tone(self) -> str:
        """How loud an alert is."""
        return _TONES.get(self.alert_type, "info")


class ComponentExtras(Lenient):
    """What the embedded service adds about a component (an extension)."""

    piece: PieceOrigin | None = None
    tag: str | None = None
    checked: bool | None = None
    checked_against: str | None = None
    described_on: date | None = None

    @property
    def heading(self) -> str:
        """Its tag for people."""
        return text.heading(self.tag or "")


class FoundComponent(Lenient):
    """What a search shows of an action or a trigger."""

    key: str = ""
    name: NonEmpty = Field(default_factory=lambda data: data["key"])
    description: str = ""
    component_type: str = ""
    props: tuple[PropApp, ...] = Field(default=(), alias="configurable_props")

    @property
    def app(self) -> str:
        """The slug of its app, as its account or its key names it; "" of an operator's own without an account."""
        by_account = next((prop.app for prop in self.props if prop.type == "app" and prop.app), "")
        return by_account or ("" if self.key.startswith("~") else self.key.partition("-")[0])

    @property
    def gist(self) -> str:
        """Its description without the links that follow it."""
        return re.split(r"\s*\[|\s*https?://", self.description, maxsplit=1)[0].strip()

    @property
    def kind(self) -> Kind:
        """Whether it is listed among the actions or the triggers."""
        return "actions" if self.component_type == "action" else "triggers"


class Component(FoundComponent):
    """An action or a trigger that can be configured (section 2.5)."""

    version: str = ""
    stash: str = ""
    props: tuple[Prop, ...] = Field(default=(), alias="configurable_props")
    annotations: dict[str, Any] = Field(default={})
    extras: ComponentExtras = Field(default_factory=ComponentExtras, alias="patchbay")

    @property
    def effect(self) -> Effect:
        """What running it does to the account, as far as its author says."""
        if self.annotations.get("readOnlyHint") is True:
            return "reads"
        if self.annotations.get("spendsHint") is True:
            return "spends"
        return "destroys" if self.annotations.get("destructiveHint") is True else "changes"

    @property
    def delivery(self) -> str:
        """How a trigger learns of news: ``Polling`` when it has a schedule, else ``Instant``."""
        return "Polling" if any(prop.type == "$.interface.timer" for prop in self.props) else "Instant"

    @property
    def is_emitted_by_client(self) -> bool:
        """Whether a trigger's events come to the one address of an OAuth client."""
        return any(prop.type == "$.interface.apphook" for prop in self.props)


class _LookUp(Lenient):
    """What every look-up may tell of its failure."""

    errors: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = ()

    @property
    def problem(self) -> str:
        """Why it failed, in the service's own words; "" when it did not."""
        return " ".join(self.errors or [line.text for line in self.observations if line.kind == "error"])


class Choices(_LookUp):
    """The answer of ``configure`` (section 4.6): a page of options, and what the next page needs."""

    objects: Options = Field(default=(), alias="options")
    strings: Options = Field(default=(), alias="stringOptions")
    context: dict[str, Any] | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        """The options, in whichever form they came."""
        return self.objects or self.strings

    @property
    def total(self) -> int | None:
        """How many options there are in all, where the component tells."""
        counts = [(self.context or {}).get(key) for key in ("total", "total_count")]
        return next((count for count in counts if isinstance(count, int) and not isinstance(count, bool)), None)


class Reloaded(_LookUp):
    """The answer of reloading props (section 4.7): their id and the whole new list, as the service sent it."""

    id: str = Field(default="", validation_alias=AliasPath("dynamicProps", "id"))
    props: tuple[dict[str, Any], ...] = Field(
        default=(), validation_alias=AliasPath("dynamicProps", "configurableProps")
    )


def props(data: Iterable[Json]) -> tuple[Prop, ...]:
    """A list of configurable props as it was kept; entries without a name are left out."""
    return Component.model_validate({"configurable_props": list(data)}).props


def labels(names: Sequence[Prop]) -> str:
    """The labels of some props in one sentence's middle."""
    return ", ".join(prop.label for prop in names)
