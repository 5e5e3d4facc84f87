"""Models of how a provider tells all its events to one address of an OAuth client: who signs, which account it is about
and who may see it.

Paths are dotted paths in the JSON body of the request, or ``header:`` and a name; but where an account is asked about
itself, in its answer.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from webapp.service.catalog.requests import Address, Facts, FieldName, Request, Text
from webapp.service.components.declared.trigger_form import Signature
from webapp.service.outbound.outcomes import at_path

_HMAC, _HEADER = "hmac:", "header:"


class Member(Facts):
    """A member of the body at ``path`` that equals ``equals``."""

    path: Text
    equals: str | int | bool


class Handshake(Facts):
    """The request by which the provider tries the address, told by ``when``. It is answered with ``answer``: what
    stands at these paths, by name; behind ``hmac:``, its HMAC-SHA256 with the secret, in hexadecimal.

    Or it is not signed yet and has, at ``secret``, the one that signs from then on, once the client's owner took it.
    """

    when: Member | None = None
    answer: dict[str, Text] = Field(default_factory=dict)
    secret: str = ""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.when) != bool(self.answer) or bool(self.when) == bool(self.secret):
            raise ValueError("handshake has when and answer, or else secret")
        return self

    @field_validator("answer")
    @classmethod
    def _paths(cls, answer: dict[str, str]) -> dict[str, str]:
        if any(path.removeprefix(_HMAC) == "" for path in answer.values()):
            raise ValueError("hmac: needs a path behind it")
        return answer


class EventAccount(Facts):
    """Which accounts an event is about: those whose answer to the identity request has at ``of`` what stands at one of
    ``paths`` in the event.

    Or an account is several, and that changes: then the answer to a ``request`` has a list at ``of``, of whose items
    ``each`` is the path.
    """

    paths: tuple[Text, ...] = Field(min_length=1)
    of: Text
    request: Request | None = None
    each: str = ""

    @model_validator(mode="after")
    def _several(self) -> Self:
        if bool(self.request) != bool(self.each):
            raise ValueError("request and each belong together")
        return self

    def keys_in(self, answer: Any) -> list[str]:
        """What the provider calls the account, by its ``answer``; several where it is."""
        value = at_path(answer, self.of)
        items = value if isinstance(value, list) else []
        values = [at_path(item, self.each) for item in items] if self.each else [value]
        return list(dict.fromkeys(str(value) for value in values if isinstance(value, str | int) and value != ""))


class SeenBy(Facts):
    """Who of these accounts may see an event. ``everyone``: all of them, as what is told belongs to them together.

    Else one whose answer to the identity request has at ``of`` what stands at ``user`` of one of the ``users`` in the
    event, or is its only user; or all where each member of ``public`` is there; or one that may make the ``request``,
    whose templates may hold members of the event by the names in ``event``. Codes in ``hidden`` mean that it may not,
    and so does an answer that has nothing at ``shown``.
    """

    everyone: bool = False
    users: str = ""
    user: str = ""
    of: str = ""
    public: tuple[Member, ...] = ()
    event: dict[FieldName, Text] = Field(default_factory=dict)
    request: Request | None = None
    hidden: tuple[str, ...] = ()
    shown: str = ""

    @model_validator(mode="after")
    def _said(self) -> Self:
        if not (self.everyone or self.users or self.public or self.request):
            raise ValueError("seen_by says who may see an event: everyone, users, public or request")
        if self.everyone and (self.users or self.public or self.request):
            raise ValueError("seen_by is either everyone, or users, public and request")
        if (self.shown or self.hidden or self.event) and self.request is None:
            raise ValueError("event, hidden and shown belong to a request")
        if bool(self.users) != bool(self.of):
            raise ValueError("users and of belong together")
        return self


def _listed(path: Any) -> Any:
    return [path] if isinstance(path, str) else path


class Events(Facts):
    """All events of an OAuth client come to one address of ours, which its owner enters at the provider.

    ``name`` is the path of an event's name, which triggers choose by, and ``id`` that of what it is known by among the
    events of its accounts, or several; without one, the same name and body are the same event. A body that is a list
    holds several events.
    ``secret_name`` is what the provider calls the secret that signs, and ``address_name`` where it takes the address.
    """

    name: Text
    id: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    signature: Signature
    handshake: Handshake | None = None
    account: EventAccount
    seen_by: SeenBy
    secret_name: Text
    address_name: Text
    source: Address

    @model_validator(mode="after")
    def _one_request(self) -> Self:
        if self.account.request and self.seen_by.users:
            raise ValueError("account.request and seen_by.users exclude each other")
        return self

    @property
    def brings_secret(self) -> bool:
        """Whether the provider makes the secret, and sends it to the address."""
        return self.handshake is not None and self.handshake.secret != ""


class PieceEvents(Facts):
    """The same of an app that a piece brings: whether a request is genuine, and whose event it tells, the piece says.

    ``folder`` is where its package is installed, as a path from ``DATA/pieces``.
    """

    package: Text
    folder: str = Field(pattern=r"^packages/[^/\\]+/[^/\\]+$")
    secret_name: Text = "Webhook secret"  # noqa: S105 - what it is called
    address_name: Text = "Webhook address"

    @property
    def brings_secret(self) -> bool:
        """Whether the provider makes the secret; never, as far as a piece knows."""
        return False


def member(event: Any, headers: Mapping[str, Any], path: str) -> Any:
    """What stands at ``path`` in an event, or in the header that it names; None where nothing does."""
    if path.startswith(_HEADER):
        return headers.get(path.removeprefix(_HEADER).lower())
    return at_path(event, path)


def handshake_answer(handshake: Handshake, body: Any, sign: Callable[[str], str]) -> dict[str, Any] | None:
    """What ``body`` is answered with where it is the handshake, else None. ``sign`` makes an HMAC of a text."""
    if handshake.when is None or at_path(body, handshake.when.path) != handshake.when.equals:
        return None
    answer = dict[str, Any]()
    for name, path in handshake.answer.items():
        value = at_path(body, path.removeprefix(_HMAC))
        answer[name] = sign(str(value)) if path.startswith(_HMAC) else value
    return answer
