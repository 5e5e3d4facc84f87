"""The models of ``app.toml`` and ``categories.toml``: everything the service knows about an app, as plain facts.

They are in the order of the file's tables: requests and credentials, OAuth, sessions (fields exchanged for a
short-lived credential), events, facts of npm pieces, and :class:`AppSpec`, which contains them all. Texts may contain
``{field}``, which is replaced by the account's value when a request is made (see ``outbound.templates``). The paths of
events are dotted paths in the request's JSON body, or ``header:`` and a name. A model validates its own shape and
raises pydantic's ``ValidationError``; rules between facts are left to ``check``.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, field_validator, model_validator

from webapp.service.components.declared.form import Signature
from webapp.service.components.pieces.form import AuthForm
from webapp.service.outbound.bodies import at_path
from webapp.service.outbound.key_sessions import Algorithm, AssertionSpec, SessionSpec
from webapp.service.outbound.oauth_failures import OAuthFailureKind
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.request_signing import PARTS

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
# A URL as an app declares it: http or https, or a template that begins with a field or an installation's variable.
Address = Annotated[str, StringConstraints(pattern=r"^(https?://|\{|\$\{)[^\s\\]*$", max_length=2000)]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
SESSION_TOKEN = "session_token"  # noqa: S105 - the name of a field
_HMAC, _HEADER = "hmac:", "header:"
PIECE = "piece"
AuthType = Literal["oauth", "keys", "none"]


class Facts(BaseModel):
    """The base of all models: immutable, and unknown keys are refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Credential(Facts):
    """A place in a request that carries the credential, or a part of it. An app may need several.

    ``bearer``: ``Authorization: Bearer value`` (RFC 6750) · ``header``, ``query``, ``body``: ``name`` = ``value`` ·
    ``basic``: ``username`` and ``password`` (RFC 7617) · ``url``: it stands in ``base_url`` itself, as ``{field}`` ·
    ``sigv4``, ``oauth1``: it signs the final request with ``parts`` (AWS Signature Version 4; RFC 5849).
    """

    place: Literal["bearer", "header", "query", "body", "basic", "url", "sigv4", "oauth1"]
    name: str = ""
    value: str = "{oauth_access_token}"
    username: str = ""
    password: str = ""
    parts: dict[str, str] = Field(default_factory=dict)
    source: Address

    @property
    def texts(self) -> tuple[str, ...]:
        """Its texts that may contain ``{field}``."""
        if self.place == "basic":
            return self.username, self.password
        if self.place in PARTS:
            return tuple(self.parts.values())
        return () if self.place == "url" else (self.value,)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed, optional = PARTS.get(self.place, ((), ()))
        if missing := [name for name in needed if name not in self.parts]:
            raise ValueError(f"a {self.place} credential needs {', '.join(missing)} in parts")
        if unknown := [name for name in self.parts if name not in (*needed, *optional)]:
            raise ValueError(f"a {self.place} credential has no part {unknown[0]}")
        if self.place in ("header", "query", "body") and not self.name:
            raise ValueError(f"a credential in the {self.place} needs the name under which it goes there")
        if self.place == "basic" and not (self.username or self.password):
            raise ValueError("a basic credential needs a username or a password")
        return self


class Request(Facts):
    """A request. ``url`` is absolute, or begins with ``/`` and is appended to the app's ``base_url``."""

    method: Method = "GET"
    url: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: dict[str, Any] | None = Field(default=None, alias="json")
    source: Address


class Test(Request):
    """The test of a credential: an HTTP request, a sign-in to a server of the kind ``mysql``, ``postgres`` or
    ``smtp``, a ping of the MCP server at ``url``, or with ``piece`` a test by the app's npm package. With ``none``,
    accounts are connected untested."""

    kind: Literal["http", "mcp", "mysql", "postgres", "smtp", "piece", "none"] = "http"


class Identity(Request):
    """The request that identifies the owner of an account. Without ``url``, it is the test request.

    ``id``, ``name``, ``email`` and ``workspace`` are dotted paths in the JSON response; a number is an array index. The
    workspace is shown with the name, for providers where a person may have several. ``optional``: a credential is valid
    even if it may not make the request (403).
    """

    id: Text
    name: str = ""
    email: str = ""
    workspace: str = ""
    optional: bool = False


class BodyRefusal(Facts):
    """A refusal in the body of a response with status 200: the member at ``path`` equals ``equals``.

    The credential is not valid only if the code at ``error_path`` is in ``refused``; other codes are temporary errors.
    """

    path: Text
    equals: str | int | bool = False
    error_path: str = ""
    refused: tuple[str, ...] = ()


class Refusals(Facts):
    """How the provider's responses show that a credential is not valid: by status, or in the body."""

    statuses: tuple[int, ...] = (401, 403)
    body: BodyRefusal | None = None
    source: Address


def absolute(base_url: str | None, url: str) -> str:
    """The absolute URL: ``url``, appended to ``base_url`` if it begins with ``/``."""
    return f"{(base_url or '').rstrip('/')}{url}" if url.startswith("/") else url


class Scope(Facts):
    """An OAuth scope. ``words`` describe what it allows, as the end of "This app may …".

    ``functional``: the test request needs it, so it is always requested · ``optional``: a person may leave it out ·
    ``default``: requested without a profile · ``includes``: scopes that it implies, which the provider may then leave
    out of its response.
    """

    scope: Text
    words: Text
    functional: bool = False
    optional: bool = False
    default: bool = True
    includes: tuple[str, ...] = ()


class ScopeProfile(Facts):
    """A named choice of scopes, such as ``read_only``.

    ``scope_param`` and ``token_at`` override the app's, as for Slack's bots.
    """

    name: Slug
    scopes: tuple[str, ...] = Field(min_length=1)
    scope_param: str | None = None
    token_at: str | None = None


class Shape(Facts):
    """The format of a value: ``pattern`` is a regular expression for the whole value, ``advice`` the message if it does
    not match."""

    pattern: Text
    advice: Text

    @field_validator("pattern")
    @classmethod
    def _readable(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError("a pattern is a regular expression") from error
        return pattern


class Note(Facts):
    """A hint about creating a client, with a link to details."""

    text: Text
    url: Address | None = None


class ClientNote(Facts):
    """How to create an OAuth client at the provider, step by step.

    ``{redirect_uri}`` in a step is replaced by this installation's callback URL, and words between ``**`` are those of
    the provider's pages. ``provider`` is the provider of the client if it is not the app; ``console`` is the name of
    the page at ``console_url``. ``id_name`` and ``secret_name`` are its names for the two values, ``id_shape`` and
    ``secret_shape`` their formats. ``read_on`` is the day on which all this was read at ``source``.
    """

    console_url: Address
    steps: tuple[Text, ...] = Field(min_length=1)
    source: Address
    provider: str = ""
    console: str = ""
    id_name: str = ""
    secret_name: str = ""
    id_shape: Shape | None = None
    secret_shape: Shape | None = None
    notes: tuple[Note, ...] = ()
    read_on: date | None = None


class ClientCheck(Facts):
    """How the token endpoint's errors show whether a client exists, where they differ from RFC 6749 section 5.2.

    The check exchanges an invalid code. ``unknown_codes`` and ``unknown_statuses`` are the errors for an unknown
    client, besides ``invalid_client``; ``redirect_uri_codes`` those for an unknown redirect URI. ``possible``: whether
    a client can be checked before anybody signs in.
    """

    possible: bool = True
    unknown_codes: tuple[str, ...] = ()
    unknown_statuses: tuple[int, ...] = ()
    redirect_uri_codes: tuple[str, ...] = ()
    source: Address


class Revocation(Request):
    """The request that revokes access, where it differs from RFC 7009. It may contain ``{oauth_access_token}`` and
    ``{oauth_client_id}``; ``body`` are members of its JSON body.

    ``credential``: whether it is sent with the account's credential, or with the client's id and secret as Basic.
    """

    credential: Literal["account", "client"] = "account"
    body: dict[str, str] = Field(default_factory=dict)


class LookUp(Request):
    """A request right after the sign-in, for fields that the token response lacks. ``keep`` are dotted paths in its
    response by the names of the fields. With ``label``, one of these fields, the response, or its member at ``items``,
    is a list of sites, of which the person chooses one by that field."""

    keep: dict[FieldName, Text] = Field(min_length=1)
    label: str = ""
    items: str = ""

    @model_validator(mode="after")
    def _labelled(self) -> Self:
        if self.label and self.label not in self.keep:
            raise ValueError("the label of a look-up is one of the fields that it keeps")
        if self.items and not self.label:
            raise ValueError("the items of a look-up need a label, by which one of them is chosen")
        return self


class LongLived(Facts):
    """Two requests by GET: the ``exchange`` of the token that a sign-in gives, which lives for hours, for one of weeks;
    and the ``renewal`` of that one with itself. Their ``params`` may contain ``{oauth_access_token}``,
    ``{oauth_client_id}`` and ``{oauth_client_secret}``.

    Without ``renewal_url``, the account does not end with the token: what the look-up found with it lasts.
    """

    exchange_url: Address
    exchange_params: dict[str, str]
    renewal_url: Address | None = None
    renewal_params: dict[str, str] = Field(default_factory=dict)
    source: Address


class OAuth(Facts):
    """The OAuth 2.0 authorization code flow (RFC 6749 section 4.1) of this provider, or OAuth 1.0a (RFC 5849 section 2)
    if there is a ``request_token_url`` for temporary credentials. With OAuth 1.0a, the token's secret is stored as
    ``oauth_token_secret``, and credentials may contain ``{oauth_client_secret}``.

    ``refresh``: whether a refresh returns a new refresh token, keeps the first, or is not supported.
    ``refresh_url`` is the endpoint for refreshing tokens if it is not ``token_url``. ``authorize_params`` are sent with
    the person and may contain ``{field}``, for a scope that names the account's own address; so may ``token_params``,
    which are sent with a code. ``refresh_params`` are sent with a refresh token.
    ``keep``: members of the token response (dotted paths) that are stored as fields of the account, by name.
    ``shown``: those of these fields, or of the look-up's, that are no secret, so that components may read them.
    ``own_clients``: whether a person may use their own client (contract "Connect Link").
    ``error_codes``: the meaning of error codes that are not those of RFC 6749 section 5.2.
    ``family``: all apps of a family can use the same client. ``revokes``: whether revoking one token ends only that
    sign-in, or all access that the person ever gave this client.
    """

    authorize_url: Address | None = None
    token_url: Address | None = None
    refresh_url: Address | None = None
    request_token_url: Address | None = None  # RFC 5849
    revoke_url: Address | None = None  # RFC 7009
    issuer: Address | None = None  # RFC 9207; its metadata has the endpoints that are missing here (RFC 8414)
    iss_required: bool = False
    pkce: bool = True
    token_auth_method: Literal["client_secret_basic", "client_secret_post", "none"] = "client_secret_basic"  # noqa: S105
    token_body: Literal["form", "json"] = "form"  # noqa: S105
    token_at: str = ""
    token_headers: dict[str, str] = Field(default_factory=dict)
    client_id_param: Literal["client_id", "client_key"] = "client_id"
    scope_param: str = "scope"
    scope_separator: str = " "
    authorize_params: dict[str, str] = Field(default_factory=dict)
    token_params: dict[str, str | int] = Field(default_factory=dict)
    refresh_params: dict[str, str | int] = Field(default_factory=dict)
    error_codes: dict[str, OAuthFailureKind] = Field(default_factory=dict)
    refresh: Literal["rotating", "reusable", "none"] = "reusable"
    keep: dict[FieldName, Text] = Field(default_factory=dict)
    shown: tuple[FieldName, ...] = ()
    look_up: LookUp | None = None
    long_lived: LongLived | None = None
    revocation: Revocation | None = None
    own_clients: bool = True
    client: ClientNote
    check: ClientCheck | None = None
    family: Slug | None = None
    revokes: Literal["sign_in", "client"] = "sign_in"
    scopes: tuple[Scope, ...] = ()
    scope_profiles: tuple[ScopeProfile, ...] = ()
    sources: tuple[Address, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if not self.issuer and not (self.authorize_url and self.token_url):
            raise ValueError("give authorize_url and token_url, or the issuer that says where they are")
        return self

    @model_validator(mode="after")
    def _shown_is_kept(self) -> Self:
        if unknown := {*self.shown} - self.keep.keys() - (self.look_up.keep.keys() if self.look_up else set()):
            raise ValueError(f"{min(unknown)} is shown, but nothing keeps it")
        return self

    @model_validator(mode="after")
    def _signed(self) -> Self:
        if self.request_token_url and (self.refresh != "none" or "oauth_token_secret" not in self.keep):
            raise ValueError('OAuth 1.0a has refresh = "none" and keep = { oauth_token_secret = "oauth_token_secret" }')
        return self


class Assertion(Facts):
    """A JSON Web Token (RFC 7519), signed with the field ``key``: ``iat`` and ``exp`` are added to ``claims``, ``alg``
    and ``typ`` to ``headers``. ``hex_key``: the secret of an HMAC is written in hexadecimal."""

    algorithm: Algorithm
    key: FieldName
    headers: dict[str, str] = Field(default_factory=dict)
    claims: dict[str, str] = Field(default_factory=dict)
    life_s: int = Field(default=3600, ge=30, le=86_400)
    hex_key: bool = False
    source: Address


class Session(Facts):
    """The request that exchanges the fields for ``{session_token}``; it may contain them and ``{assertion}``.

    ``url`` is absolute, or begins with ``/`` and is appended to the app's ``base_url``; without it, the assertion is
    the credential. ``token`` and ``expires_in`` are dotted paths in the response; ``life_s`` is the lifetime if the
    response does not contain it. ``keep``: further members of the response (dotted paths) by the names of the fields
    in which they are stored.
    """

    method: Literal["POST", "GET", "PUT"] = "POST"
    url: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    form: dict[str, str] | None = None
    json_body: dict[str, str] | None = Field(default=None, alias="json")
    credentials: tuple[Credential, ...] = ()
    assertion: Assertion | None = None
    token: Text = "access_token"  # noqa: S105 - a path
    expires_in: str = "expires_in"
    life_s: int = Field(default=3600, ge=30, le=365 * 86_400)
    keep: dict[FieldName, Text] = Field(default_factory=dict)
    source: Address

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.url and self.assertion is None:
            raise ValueError("a session needs a url, or an assertion that is the credential itself")
        if self.form is not None and self.json_body is not None:
            raise ValueError("a session's request has one body: form or json")
        if self.method == "GET" and (self.form is not None or self.json_body is not None):
            raise ValueError("GET has no body; use params")
        if any(credential.place in ("url", "sigv4", "oauth1") for credential in self.credentials):
            raise ValueError("a credential of a session's request is a bearer, header, query, body or basic one")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """Its texts that may contain ``{field}``."""
        assertion = self.assertion
        parts = [self.params, self.headers, self.form or {}, self.json_body or {}]
        parts += [assertion.headers, assertion.claims] if assertion else []
        own = [text for credential in self.credentials for text in credential.texts]
        return (self.url, *own, *(text for part in parts for text in part.values()))

    def to_spec(self, url: str, placements: tuple[Placement, ...]) -> SessionSpec:
        """The exchange as ``outbound`` takes it, with the absolute ``url``."""
        assertion = AssertionSpec(**self.assertion.model_dump(exclude={"source"})) if self.assertion else None
        facts = self.model_dump(include={"method", "params", "headers", "form", "token", "expires_in", "life_s"})
        return SessionSpec(url=url, json=self.json_body, placements=placements, assertion=assertion, **facts)


class Member(Facts):
    """A member of the body at ``path`` that equals ``equals``."""

    path: Text
    equals: str | int | bool


class Handshake(Facts):
    """The request with which the provider verifies the URL for events, recognised by ``when``. The response has the
    members ``answer``: the values at these paths, or after ``hmac:`` their HMAC-SHA256 with the secret, in hexadecimal.

    Alternatively, the request is unsigned and contains, at ``secret``, the secret that signs later requests once the
    client's owner has accepted it.
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
    """Which accounts an event concerns: those whose identity response has at ``of`` a value that the event has at one
    of ``paths``.

    If an account has several such values that may change, the response to ``request`` has a list at ``of``, and
    ``each`` is the path of the value in its items.
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
        """The values in ``answer`` by which the provider's events identify the account."""
        value = at_path(answer, self.of)
        items = value if isinstance(value, list) else []
        values = [at_path(item, self.each) for item in items] if self.each else [value]
        return list(dict.fromkeys(str(value) for value in values if isinstance(value, str | int) and value != ""))


class SeenBy(Facts):
    """Which of these accounts may see an event. ``everyone``: all of them, because they share the data.

    Otherwise, an account may see the event if its identity response has at ``of`` the value at ``user`` of one of the
    event's ``users``, or if it is the only user; if the event has all members ``public``; or if the account may make
    the ``request``, whose templates may contain members of the event by the names in ``event``. Error codes in
    ``hidden``, or a response without a value at ``shown``, mean that it may not.
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
    """The webhook of an OAuth client: all its events arrive at one URL of ours, which its owner enters at the provider.

    ``name`` is the path of an event's name, by which triggers select events. ``id`` is the path, or several, of its id
    among the events of its accounts; without one, events with the same name and body are the same. A body that is a
    list contains several events. ``secret_name`` is the provider's name for the signing secret, and ``address_name``
    for the field of the URL. A trigger that polls at an event does so ``settles_s`` seconds later, when the app's lists
    show what is new.
    """

    name: Text
    id: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    signature: Signature
    handshake: Handshake | None = None
    account: EventAccount
    seen_by: SeenBy
    secret_name: Text
    address_name: Text
    settles_s: int = Field(default=0, ge=0, le=60)
    source: Address

    @model_validator(mode="after")
    def _one_request(self) -> Self:
        if self.account.request and self.seen_by.users:
            raise ValueError("account.request and seen_by.users exclude each other")
        return self

    @property
    def brings_secret(self) -> bool:
        """Whether the provider generates the secret and sends it to the URL."""
        return self.handshake is not None and self.handshake.secret != ""


class Topic(Facts):
    """A topic of Cloud Pub/Sub to which an app publishes its notices, and which sends them to the URL of the client.

    The client's owner enters its name, which matches ``pattern``; otherwise ``advice`` is the error. A request has an
    ID token (OpenID Connect Core 1.0) of ``issuer``, signed by one of its ``keys``, for that URL, and of a verified
    e-mail address at ``sender``, which may contain named groups of the pattern.
    """

    secret_name: Text
    address_name: Text
    pattern: Text
    advice: Text
    issuer: Address
    keys: Address
    sender: Text

    @property
    def brings_secret(self) -> bool:
        """Whether the provider generates what its owner would enter; always False for topics."""
        return False


class Notices(Facts):
    """The webhook of an OAuth client for pushes: by a request that is signed with the client's own secret, or that its
    ``topic`` sends, the app notifies the triggers whose subscriptions have the id, or one of the list, at ``hooks``.
    They then poll, each with its own account, so nothing else in the request is believed.

    ``data`` is the path of JSON in base64, in which ``hooks`` is; without it, that is the body. A trigger polls
    ``settles_s`` seconds later, when the app's lists show what is new.
    """

    hooks: Text
    data: str = ""
    signature: Signature | None = None
    topic: Topic | None = None
    settles_s: int = Field(default=0, ge=0, le=60)
    source: Address

    @model_validator(mode="after")
    def _verified(self) -> Self:
        if (self.signature is None) == (self.topic is None):
            raise ValueError("notices have either a signature or a topic")
        return self


class PieceEvents(Facts):
    """The webhook of an OAuth client of a piece's app; the piece verifies requests and identifies their accounts.

    ``folder`` is where its package is installed, as a path from ``DATA/pieces``.
    """

    package: Text
    folder: str = Field(pattern=r"^packages/[^/\\]+/[^/\\]+$")
    secret_name: Text = "Webhook secret"  # noqa: S105 - what it is called
    address_name: Text = "Webhook address"

    @property
    def brings_secret(self) -> bool:
        """Whether the provider generates the secret; always False for pieces."""
        return False


def member(event: Any, headers: Mapping[str, Any], path: str) -> Any:
    """The value at ``path`` in an event, or in the header that it names, or None."""
    if path.startswith(_HEADER):
        return headers.get(path.removeprefix(_HEADER).lower())
    return at_path(event, path)


def handshake_answer(handshake: Handshake, body: Any, sign: Callable[[str], str]) -> dict[str, Any] | None:
    """The response to ``body`` if it is the handshake, else None. ``sign`` makes an HMAC of a text."""
    if handshake.when is None or at_path(body, handshake.when.path) != handshake.when.equals:
        return None
    answer = dict[str, Any]()
    for name, path in handshake.answer.items():
        value = at_path(body, path.removeprefix(_HMAC))
        answer[name] = sign(str(value)) if path.startswith(_HMAC) else value
    return answer


class PieceFacts(Facts):
    """The installed package of a piece's app: ``folder`` is its path in ``DATA/pieces``, ``auth`` the form in which it
    takes an account, and ``hosts`` the hosts that it may reach when it tests one."""

    package: Text
    folder: Text
    auth: AuthForm
    hosts: tuple[str, ...] = ()


class Origin(Facts):
    """Where an imported app comes from, which nobody has curated: the document of that name in the public directory.

    ``version`` is that of the directory, ``date`` the day on which it was published or, if nobody knows, added here.
    """

    directory: Text
    version: Text
    date: Text


def asks_piece(fields: Mapping[str, Any]) -> bool:
    """Whether the app with the ``fields`` of an ``app.toml`` is tested by the package that it comes from."""
    test = fields.get("test")
    return isinstance(test, Mapping) and test.get("kind") == PIECE


class Category(Facts):
    """A category of the catalog."""

    slug: Slug
    name: Text
    description: Text


class Option(Facts):
    """An option of a custom field. A plain string is both its value and its label."""

    label: str
    value: str

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"label": value, "value": value} if isinstance(value, str) else value


class CustomField(Facts):
    """One value that a person enters to connect; ``custom_fields_json`` (contract "Apps") is the list of these.

    The whole value must match ``pattern``, ignoring case; its first group is stored. ``read_from`` is the field that
    the value is extracted from unless it is given, so that nobody has to enter it. ``advice`` is the message for a
    value that does not match.
    """

    name: FieldName
    label: Text
    description: str = ""
    default: str | None = None
    optional: bool = False
    secret: bool = False
    format: str | None = None
    options: tuple[Option, ...] = ()
    docs_url: Address | None = None
    pattern: str | None = None
    read_from: FieldName | None = None
    advice: str = ""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if (self.pattern is None) != (not self.advice) or (self.read_from and self.pattern is None):
            raise ValueError("a pattern needs advice, and read_from needs a pattern")
        if self.pattern is not None and not _has_group(self.pattern):
            raise ValueError("a pattern is a regular expression whose first group is what is kept")
        return self

    def to_json(self) -> dict[str, Any]:
        """The field as the API returns it (contract "Apps"), without members that are not set."""
        document: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            "description": self.description,
            "default": self.default,
            "optional": self.optional or self.read_from is not None,
        }
        if self.secret:
            document["secret"] = True
        if self.format:
            document["format"] = self.format
        if self.options:
            document["options"] = [{"label": option.label, "value": option.value} for option in self.options]
        if self.docs_url:
            document["docs_url"] = self.docs_url
        return document


def _has_group(pattern: str) -> bool:
    try:
        return re.compile(pattern).groups > 0
    except re.error:
        return False


class Logo(Facts):
    """A brand's mark, a Simple Icons slug, or a letter to draw, which needs a colour; the others have their own."""

    mark: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    icon: str | None = None
    letter: str | None = Field(default=None, min_length=1, max_length=2)
    color: str | None = Field(default=None, pattern=r"^#[0-9a-fA-F]{6}$")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.mark, self.icon, self.letter)) != 1:
            raise ValueError("give either a mark, an icon or a letter")
        if self.letter is not None and self.color is None:
            raise ValueError("a letter needs a color")
        return self


class ApiDocument(Facts):
    """A description of an app's API by its provider: the file at ``path`` in a ``package`` (``npm:name`` or
    ``pypi:name``), or a ``directory`` entry (``provider`` or ``provider:api``) of the public directory.

    ``name`` tells it from the app's other documents. ``version`` and ``integrity`` (Subresource Integrity) are those of
    the package; packages that several apps use have theirs in ``api_packages.toml``. ``server`` is where its paths are
    served, if that is not what the document says: a whole address, or a path below ``base_url``. ``values`` are
    parameters that the account knows, such as ``{$account.account_sid}``; empty for those that are never sent. Of a
    document that describes more than this app, ``below`` are the paths below which the app's operations are, or
    ``within`` is the one below which they are and which ``base_url`` has already. ``equals`` are paths of the document
    by those that the app's own components use for the same things, such as those of an earlier version.
    """

    name: str = Field(default="api", pattern=r"^[a-z][a-z0-9_]{0,29}$")
    package: str | None = Field(default=None, pattern=r"^(npm|pypi):(@[a-z0-9._-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(default="", pattern=r"^[0-9A-Za-z.+-]{0,60}$")
    integrity: str = Field(default="", pattern=r"^(sha(256|512)-[A-Za-z0-9+/]+={0,2})?$")
    path: str = Field(default="", max_length=300)
    directory: str | None = Field(default=None, pattern=r"^[a-z0-9.-]+(:[A-Za-z0-9._ -]+)?$")
    server: str = Field(default="", pattern=r"^((/|https://|\{\$account\.)[^\s\\?#]*)?$")
    values: dict[str, str] = Field(default_factory=dict)
    below: tuple[str, ...] = ()
    within: str = ""
    equals: dict[str, str] = Field(default_factory=dict)
    source: Address
    read_on: date

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.package is None) == (self.directory is None):
            raise ValueError("give either a package or a directory entry")
        if self.package and not self.path:
            raise ValueError("a package needs the path of the document in it")
        return self


class Api(Facts):
    """Where an app's provider describes its whole API; its operations become actions once an owner adds them."""

    documents: tuple[ApiDocument, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if len({document.name for document in self.documents}) < len(self.documents):
            raise ValueError("each of several documents needs a name of its own")
        return self


class HostedServer(Facts):
    """The MCP server that an app's provider hosts for everybody, as its documentation says at ``source`` on the day
    ``read_on``.

    ``auth``: people sign in (``oauth``), enter a ``key``, or do neither. ``registers``: clients register themselves at
    its authorization server, so that nobody has to make one. A key is a bearer token, or goes into the ``header``;
    ``key_name`` is what the provider calls it. ``beside`` is the app of the same provider that has requests of its own.
    """

    url: Annotated[str, StringConstraints(pattern=r"^https://[^\s\\{}?#/]+/[^\s\\{}?#]*$", max_length=2000)]
    auth: Literal["oauth", "key", "none"] = "oauth"
    registers: bool = True
    header: str = Field(default="", pattern=r"^[A-Za-z0-9-]{0,60}$")
    key_name: str = ""
    beside: Slug | None = None
    source: Address
    read_on: date

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.auth != "key" and (self.header or self.key_name):
            raise ValueError('header and key_name belong to auth = "key"')
        if self.auth != "oauth" and not self.registers:
            raise ValueError('registers = false belongs to auth = "oauth"')
        return self

    @property
    def way(self) -> Literal["registers", "client", "key", "none"]:
        """How people connect: ``client`` is by signing in with a client that somebody has made there."""
        if self.auth == "oauth":
            return "registers" if self.registers else "client"
        return self.auth


class SignIn(Facts):
    """How people connect an app of keys by signing in instead, once there is an OAuth client.

    What it leaves out is as with a key. ``fields`` are the names of those fields of the app that a person enters before
    the sign-in.
    """

    oauth: OAuth
    credentials: tuple[Credential, ...] = Field(min_length=1)
    fields: tuple[FieldName, ...] = ()
    base_url: Address | None = None
    allowed_hosts: tuple[str, ...] = ()
    headers: dict[str, str] = Field(default_factory=dict)
    test: Test | None = None
    identity: Identity | None = None
    refusals: Refusals | None = None


class AppSpec(Facts):
    """One app, as its ``app.toml`` declares it."""

    slug: Slug
    aliases: tuple[Slug, ...] = ()  # other slugs that callers know it by
    of: Slug | None = None  # the app that it is another way to connect
    name: Text
    description: Text
    categories: tuple[Slug, ...] = Field(min_length=1)
    featured_weight: int = Field(default=0, ge=0, le=1_000_000)
    auth_type: AuthType
    logo: Logo
    docs_url: Address | None = None
    sources: tuple[Address, ...] = ()  # where base_url, allowed_hosts and headers were read
    base_url: Address | None = None
    allowed_hosts: tuple[str, ...] = ()
    headers: dict[str, str] = Field(default_factory=dict)
    fields: tuple[CustomField, ...] = ()
    credentials: tuple[Credential, ...] = ()
    oauth: OAuth | None = None
    session: Session | None = None
    events: Events | None = None
    notices: Notices | None = None
    piece_events: PieceEvents | None = None
    piece: PieceFacts | None = None
    origin: Origin | None = None
    test: Test | None = None
    identity: Identity | None = None
    refusals: Refusals | None = None
    sign_in: SignIn | None = None
    api: Api | None = None
    mcp: HostedServer | None = None  # whose tools are its actions

    @property
    def by_sign_in(self) -> "AppSpec":
        """The facts of its accounts that were connected by :attr:`sign_in`; itself if it has none."""
        if self.sign_in is None:
            return self
        other = self.sign_in
        facts = {name: value for name in SignIn.model_fields if (value := getattr(other, name)) not in (None, (), {})}
        fields = tuple(field for field in self.fields if field.name in other.fields)
        return self.model_copy(
            update={**facts, "fields": fields, "auth_type": "oauth", "session": None, "sign_in": None}
        )

    @property
    def requests(self) -> tuple[tuple[str, Request], ...]:
        """The requests that it declares, with the names of their sections."""
        oauth = self.oauth
        named = {
            "test": self.test,
            "identity": self.identity,
            "oauth.look_up": oauth.look_up if oauth else None,
            "oauth.revocation": oauth.revocation if oauth else None,
            "events.account": self.events.account.request if self.events else None,
            "events.seen_by": self.events.seen_by.request if self.events else None,
        }
        return tuple((name, request) for name, request in named.items() if request is not None)

    @property
    def event_webhook(self) -> Events | PieceEvents | None:
        """The webhook of its OAuth clients, or None if they get no events."""
        return self.events or self.piece_events

    @property
    def client_webhook(self) -> Events | PieceEvents | Topic | None:
        """What its OAuth clients have to be set up for, so that the app notifies triggers; None for nothing."""
        return self.event_webhook or (self.notices.topic if self.notices else None)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The OAuth scopes; empty for an app without OAuth."""
        return self.oauth.scopes if self.oauth else ()

    @property
    def scope_profiles(self) -> tuple[ScopeProfile, ...]:
        """The scope profiles; empty for an app without OAuth."""
        return self.oauth.scope_profiles if self.oauth else ()
