"""The description of a piece (``description.json``), which its own program writes; nothing here runs the piece.

It is not trusted. Malformed parts are left out where possible, and the others are used.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from webapp.errors import Invalid

Kind = Literal["action", "trigger"]
_MOST_VALUES = 100_000  # values in samples that are searched
MOST_PARTS, MOST_PROPS, MOST_AUTHS = 1_000, 500, 50


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _flag(value: Any) -> bool:
    return value is True


def _members(value: Any) -> dict[str, Any]:
    return {str(name): each for name, each in value.items()} if isinstance(value, Mapping) else {}


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _texts_in(value: Any) -> Iterator[str]:
    """The texts in ``value``, at any depth."""
    waiting = [value]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping | list):
            waiting += each.values() if isinstance(each, Mapping) else each


Words = Annotated[str, BeforeValidator(_text)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Members = Annotated[dict[str, Any], BeforeValidator(_members)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class _Described(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="ignore", populate_by_name=True)


class Auth(_Described):
    """One auth type; ``type`` decides which members are used."""

    type: str
    name: Words = Field(default="", alias="displayName")
    description: Words = ""
    props: Members = Field(default_factory=dict)
    authorize_url: Words = Field(default="", alias="authUrl")
    token_url: Words = Field(default="", alias="tokenUrl")
    scopes: Texts = Field(default=(), alias="scope")
    grant: Words = Field(default="", alias="grantType")
    pkce: Flag = False
    method: Words = Field(default="", alias="authorizationMethod")
    extra: Members = Field(default_factory=dict)
    prompt: Words = ""
    username: Members = Field(default_factory=dict)
    password: Members = Field(default_factory=dict)
    validates: Flag = Field(default=False, alias="hasValidate")


class Part(_Described):
    """An action or a trigger. ``kind_of_use`` is READ, SEARCH, WRITE or DESTRUCTIVE if the piece declares it.

    ``wants`` names features of the original host that are not available here. The other fields are for triggers.
    """

    name: str = Field(min_length=1, max_length=200)
    title: Words = Field(default="", alias="displayName")
    description: Words = ""
    props: Members = Field(default_factory=dict)
    needs_account: bool = Field(default=True, alias="requireAuth")
    ai: Members = Field(default_factory=dict, alias="aiMetadata")
    kind_of_use: Words = Field(default="", alias="classification")
    wants: Texts = ()
    strategy: Words = Field(default="", alias="type")
    handshake: Members = Field(default_factory=dict, alias="handshakeConfiguration")
    renewal: Members = Field(default_factory=dict, alias="renewConfiguration")


class Description(_Described):
    """A whole piece. ``actions`` and ``triggers`` are raw, and read one by one by :func:`part`."""

    title: str = Field(default="", alias="displayName")
    description: Words = ""
    logo_url: Words = Field(default="", alias="logoUrl")
    authors: Texts = ()
    categories: Texts = ()
    auth: tuple[Any, ...] = Field(default=(), max_length=MOST_AUTHS)
    actions: Members = Field(default_factory=dict)
    triggers: Members = Field(default_factory=dict)
    events: Members = Field(default_factory=dict)
    languages: Members = Field(default_factory=dict, alias="i18n")

    @property
    def tells_events(self) -> bool:
        """Whether it can say to which account an event of its provider belongs."""
        return self.events.get("parseAndReply") is True

    @property
    def samples(self) -> Iterator[str]:
        """The texts in the sample data of its triggers."""
        return _texts_in([each.get("sampleData") for each in self.triggers.values() if isinstance(each, Mapping)])


def read(described: Any) -> Description:
    """Parse the description of a package. Raises :class:`Invalid`."""
    try:
        description = Description.model_validate(described)
    except ValidationError as error:
        raise Invalid("The package does not describe itself as an integration does.") from error
    if not (description.actions or description.triggers):
        raise Invalid("The package has no actions and no triggers.")
    if len(description.actions) + len(description.triggers) > MOST_PARTS:
        raise Invalid(f"The package has more than {MOST_PARTS:,} actions and triggers; it is not added.")
    return description


def part(described: Any) -> Part | None:
    """An action or trigger from its description; None if it is malformed."""
    try:
        return Part.model_validate(described)
    except ValidationError:
        return None


def auth(described: Any) -> Auth | None:
    """A way to connect from its description; None if it is malformed."""
    try:
        return Auth.model_validate(described)
    except ValidationError:
        return None
