"""Models of what an app says about its OAuth: endpoints, quirks, scopes in plain words, and how a client is made."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from webapp.service.catalog.facts import Address, Facts, FieldName, Slug, Text
from webapp.service.catalog.requests import Request, host_rule
from webapp.service.outbound.oauth import Provider
from webapp.service.outbound.templates import Placement, fill_url
from webapp.service.outbound.tokens import OAuthFailureKind
from webapp.service.outbound.urls import HostRules


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
    """A named choice of scopes, such as ``read_only``."""

    name: Slug
    scopes: tuple[str, ...] = Field(min_length=1)


class ClientNote(Facts):
    """How an operator makes a client at the provider: where, and step by step.

    ``{redirect_uri}`` in a step is replaced by this installation's own callback.
    """

    console_url: Address
    steps: tuple[Text, ...] = Field(min_length=1)
    source: Address


class Revocation(Request):
    """How access is withdrawn where that is not RFC 7009: one request, which may hold ``{oauth_access_token}`` and
    ``{oauth_client_id}``. ``body`` are members of its JSON body.

    ``credential``: it is made with the account's own, or with the client's id and secret as Basic.
    """

    credential: Literal["account", "client"] = "account"
    body: dict[str, str] = Field(default_factory=dict)

    def placements(self, account: tuple[Placement, ...]) -> tuple[Placement, ...]:
        """Where its credential and body go; ``account`` are the placements of the account's own credential."""
        client = Placement("basic", username="{oauth_client_id}", password="{oauth_client_secret}")  # noqa: S106
        body = tuple(Placement("body", name, text) for name, text in self.body.items())
        return ((client,) if self.credential == "client" else account) + body


class LookUp(Request):
    """A request made once, right after the sign-in, for what the token answer lacks. ``keep``: dotted paths in its
    answer, by the names of the fields that they become."""

    keep: dict[FieldName, Text] = Field(min_length=1)


class OAuth(Facts):
    """OAuth 2.0 authorization code flow (RFC 6749 section 4.1) as this provider has it.

    ``refresh``: whether a refresh gives a new refresh token each time, keeps the first, or does not exist.
    ``keep``: members of the token answer (dotted paths) that are kept as fields of the account, by name.
    ``error_codes``: what the provider's own error codes mean, where they are not those of RFC 6749 section 5.2.
    """

    authorize_url: Address
    token_url: Address
    revoke_url: Address | None = None  # RFC 7009
    issuer: Address | None = None  # RFC 9207
    iss_required: bool = False
    pkce: bool = True
    token_auth_method: Literal["client_secret_basic", "client_secret_post", "none"] = "client_secret_basic"  # noqa: S105
    token_body: Literal["form", "json"] = "form"  # noqa: S105
    token_at: str = ""
    token_headers: dict[str, str] = Field(default_factory=dict)
    scope_param: str = "scope"
    scope_separator: str = " "
    authorize_params: dict[str, str] = Field(default_factory=dict)
    token_params: dict[str, str] = Field(default_factory=dict)
    error_codes: dict[str, OAuthFailureKind] = Field(default_factory=dict)
    refresh: Literal["rotating", "reusable", "none"] = "reusable"
    keep: dict[FieldName, Text] = Field(default_factory=dict)
    look_up: LookUp | None = None
    revocation: Revocation | None = None
    client: ClientNote
    scopes: tuple[Scope, ...] = ()
    scope_profiles: tuple[ScopeProfile, ...] = ()
    sources: tuple[Address, ...] = Field(min_length=1)

    def provider(self, client_id: str, client_secret: str | None, fields: Mapping[str, str]) -> Provider:
        """These facts together with a client; ``fields`` fill ``{field}`` in the addresses.

        Raises :class:`TemplateError` for a field that is missing or does not fit.
        """
        token_url = fill_url(self.token_url, fields)
        revoke_url = fill_url(self.revoke_url, fields) if self.revoke_url else None
        return Provider(
            authorize_url=fill_url(self.authorize_url, fields),
            token_url=token_url,
            client_id=client_id,
            client_secret=client_secret,
            revoke_url=revoke_url,
            issuer=fill_url(self.issuer, fields) if self.issuer else None,
            iss_required=self.iss_required,
            token_auth_method="none" if client_secret is None else self.token_auth_method,
            pkce=self.pkce,
            scope_param=self.scope_param,
            scope_separator=self.scope_separator,
            extra_authorize_params=self.authorize_params,
            extra_token_params=self.token_params,
            token_at=self.token_at,
            json_body=self.token_body == "json",  # noqa: S105
            error_codes=self.error_codes,
            token_headers=self.token_headers,
            allowed_hosts=HostRules.of(*{host_rule(url) for url in (token_url, revoke_url) if url}),
        )
