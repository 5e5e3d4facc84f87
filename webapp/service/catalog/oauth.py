"""Models of what an app says about its OAuth: endpoints, quirks, scopes in plain words, and how a client is made."""

import re
from datetime import date
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from webapp.service.catalog.requests import Address, Facts, FieldName, Request, Slug, Text
from webapp.service.outbound.tokens import OAuthFailureKind


class Scope(Facts):
    """One permission. ``words`` tell a person what it allows, as the end of "This app may …".

    ``functional``: the test request needs it, so it can never be left out · ``optional``: a person may leave it out ·
    ``default``: asked for when no profile is named · ``includes``: scopes that it covers, which the provider may
    then leave out of its answer.
    """

    scope: Text
    words: Text
    functional: bool = False
    optional: bool = False
    default: bool = True
    includes: tuple[str, ...] = ()


class ScopeProfile(Facts):
    """A named choice of scopes, such as ``read_only``.

    ``scope_param`` and ``token_at`` are those of the profile where they differ from the app's, as for Slack's bots.
    """

    name: Slug
    scopes: tuple[str, ...] = Field(min_length=1)
    scope_param: str | None = None
    token_at: str | None = None


class Shape(Facts):
    """How a value looks: ``pattern`` is a regular expression that the whole of it matches; ``advice`` is said where it
    does not."""

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
    """Something good to know before a client is made, with where to read on."""

    text: Text
    url: Address | None = None


class ClientNote(Facts):
    """How a client is made at the provider: where, and step by step.

    ``{redirect_uri}`` in a step is replaced by this installation's own callback, and ``**…**`` stands around words of
    the provider's pages. ``provider`` is who gives the client, where that is not the app; ``console`` is the name of
    the page at ``console_url``. ``id_name`` and ``secret_name`` are what it calls the two values, and ``id_shape`` and
    ``secret_shape`` how they look. ``read_on`` is the day on which all this was read at ``source``.
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
    """How the token endpoint tells a client that it knows from others, where that is not RFC 6749 section 5.2.

    It is asked for tokens with a code that it never gave. ``unknown_codes`` and ``unknown_statuses`` are its answers to
    a client that it does not know, besides ``invalid_client``; ``redirect_uri_codes`` to a redirect URI.
    ``possible``: whether it can be asked at all before somebody signs in.
    """

    possible: bool = True
    unknown_codes: tuple[str, ...] = ()
    unknown_statuses: tuple[int, ...] = ()
    redirect_uri_codes: tuple[str, ...] = ()
    source: Address


class Revocation(Request):
    """How access is withdrawn where that is not RFC 7009: one request, which may hold ``{oauth_access_token}`` and
    ``{oauth_client_id}``. ``body`` are members of its JSON body.

    ``credential``: it is made with the account's own, or with the client's id and secret as Basic.
    """

    credential: Literal["account", "client"] = "account"
    body: dict[str, str] = Field(default_factory=dict)


class LookUp(Request):
    """A request made once, right after the sign-in, for what the token answer lacks. ``keep``: dotted paths in its
    answer, by the names of the fields that they become. With ``label``, which is one of these fields, the answer, or
    what stands at its path ``items``, is a list of sites, of which the person chooses one by that field."""

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


class OAuth(Facts):
    """OAuth 2.0 authorization code flow (RFC 6749 section 4.1) as this provider has it; OAuth 1.0a (RFC 5849 section 2)
    where a ``request_token_url`` gives temporary credentials first. Then the token has a secret, which is kept as
    ``oauth_token_secret``, and credentials may hold ``{oauth_client_secret}``.

    ``refresh``: whether a refresh gives a new refresh token each time, keeps the first, or does not exist.
    ``refresh_url`` is where tokens are refreshed, where that is not ``token_url``. ``token_params`` and
    ``refresh_params`` are sent with a code and with a refresh token.
    ``keep``: members of the token answer (dotted paths) that are kept as fields of the account, by name.
    ``own_clients``: whether a person may bring a client of their own (contract "Connect Link").
    ``error_codes``: what the provider's own error codes mean, where they are not those of RFC 6749 section 5.2.
    ``family``: a client made for one app of it serves the others too. ``revokes``: whether withdrawing one token ends
    that sign-in alone, or all that the person ever allowed this client.
    """

    authorize_url: Address | None = None
    token_url: Address | None = None
    refresh_url: Address | None = None
    request_token_url: Address | None = None  # RFC 5849
    revoke_url: Address | None = None  # RFC 7009
    issuer: Address | None = None  # RFC 9207; alone, it says where the rest is (RFC 8414)
    iss_required: bool = False
    pkce: bool = True
    token_auth_method: Literal["client_secret_basic", "client_secret_post", "none"] = "client_secret_basic"  # noqa: S105
    token_body: Literal["form", "json"] = "form"  # noqa: S105
    token_at: str = ""
    token_headers: dict[str, str] = Field(default_factory=dict)
    scope_param: str = "scope"
    scope_separator: str = " "
    authorize_params: dict[str, str] = Field(default_factory=dict)
    token_params: dict[str, str | int] = Field(default_factory=dict)
    refresh_params: dict[str, str | int] = Field(default_factory=dict)
    error_codes: dict[str, OAuthFailureKind] = Field(default_factory=dict)
    refresh: Literal["rotating", "reusable", "none"] = "reusable"
    keep: dict[FieldName, Text] = Field(default_factory=dict)
    look_up: LookUp | None = None
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
    def _signed(self) -> Self:
        if self.request_token_url and (self.refresh != "none" or "oauth_token_secret" not in self.keep):
            raise ValueError('OAuth 1.0a has refresh = "none" and keep = { oauth_token_secret = "oauth_token_secret" }')
        return self
