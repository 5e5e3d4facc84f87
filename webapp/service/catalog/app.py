"""An app as the running service uses it: list fields are kept in memory, the rest of its spec is read when needed.

It gives its facts as the types of ``outbound``: Provider, Placement, RequestSpec and RefusalRules. It contains no
credentials.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from webapp.service.catalog.spec import (
    AppSpec,
    AuthType,
    ClientNote,
    Credential,
    OAuth,
    Request,
    ScopeProfile,
    absolute,
)
from webapp.service.outbound.key_sessions import SessionSpec
from webapp.service.outbound.oauth import LongLived, Provider
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.probe import BodyRule, RefusalRules, RequestSpec
from webapp.service.outbound.templates import fields_in, fill, fill_url, host_rule
from webapp.service.outbound.urls import HostRules

SANDBOX = "sandbox"
_NO_CLIENT = b'"oauth_app_id":null}'
ServerWay = Literal["", "registers", "client", "key", "none"]
"""``registers``: by signing in, with a client that registers itself; ``client``: with one that somebody makes."""
_ADDRESSES = ("authorize_url", "token_url", "refresh_url", "request_token_url", "revoke_url")


@dataclass(frozen=True, slots=True)
class App:
    """One app of the catalog. ``json`` is its App object, ready to be embedded in other JSON.

    ``sort_name`` is the folded name. ``name_words`` contains it and the slug, each after a line break, then the words
    of both, each after a space. ``own`` marks the operator's own apps; ``aliases`` are other slugs that find the app.
    ``server`` says how people connect to the MCP server that the provider hosts, if its tools are the actions.
    ``origin`` says which document of the public directory an app was imported from, with its version and date.
    ``signs_in``: people may also sign in to an app that is connected by keys (see :attr:`by_sign_in`).
    """

    id: str
    slug: str
    name: str
    sort_name: str
    name_words: str
    description: str
    auth_type: AuthType
    category_ids: tuple[str, ...]
    categories: tuple[str, ...]
    featured_weight: int
    img_src: str
    actions: int
    triggers: int
    variables: frozenset[str]
    aliases: tuple[str, ...]
    own: bool
    server: ServerWay
    origin: Mapping[str, str] | None
    json: bytes = field(repr=False)
    read_spec: Callable[[str], AppSpec] = field(repr=False, compare=False)
    signs_in: bool = False

    def with_client(self, oauth_app_id: str | None) -> bytes:
        """``json`` with the id of the OAuth client that a connection uses."""
        if oauth_app_id is None:
            return self.json
        return self.json.removesuffix(_NO_CLIENT) + b'"oauth_app_id":' + orjson.dumps(oauth_app_id) + b"}"

    def ready(self, clients: Collection[str]) -> bool:
        """Whether the app can be used: an app with OAuth must be in ``clients``, the slugs that have a client, unless
        it gets one by itself; a server without accounts must have been asked for its tools."""
        if self.auth_type == "oauth":
            return self.server == "registers" or self.slug in clients
        return self.server != "none" or self.actions > 0

    @property
    def api_dict(self) -> dict[str, Any]:
        """A new copy of the App object, which the caller may change."""
        fields: dict[str, Any] = orjson.loads(self.json)
        return fields

    @property
    def spec(self) -> AppSpec:
        """Its whole ``app.toml``, with the installation's variables filled in."""
        return self.read_spec(self.slug)

    @property
    def takes_clients(self) -> bool:
        """Whether it can be connected by OAuth, with a client."""
        return self.auth_type == "oauth" or self.signs_in

    @property
    def by_sign_in(self) -> "App":
        """The app as people sign in to it, and as its accounts that did: itself if there is no other way."""
        if not self.signs_in:
            return self
        spec = self.spec.by_sign_in
        return replace(self, auth_type="oauth", signs_in=False, read_spec=lambda _: spec)

    def connected_by(self, oauth_app_id: str | None) -> "App":
        """The app as an account uses it that was connected with that OAuth client, or with none."""
        return self.by_sign_in if oauth_app_id else self

    @property
    def is_sandbox(self) -> bool:
        """Whether the built-in third party serves it."""
        return SANDBOX in self.variables

    @property
    def oauth(self) -> OAuth | None:
        """Its OAuth facts, or None for an app without OAuth."""
        return self.spec.oauth

    @property
    def client_note(self) -> ClientNote:
        """How to create its OAuth client. Raises ``ValueError`` for an app without OAuth."""
        if self.oauth is None:
            raise ValueError(f"{self.slug} has no OAuth")
        return self.oauth.client

    @property
    def provider_name(self) -> str:
        """The provider of its OAuth client, such as Google for Gmail."""
        return (self.oauth and self.oauth.client.provider) or self.name

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The rules for the hosts to which its credential may be sent; they may contain ``{field}``."""
        return tuple(host_rule(rule) for rule in self.spec.allowed_hosts)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where requests carry the credential; empty if it is part of the URL."""
        return tuple(placement(credential) for credential in self.spec.credentials if credential.place != "url")

    @property
    def session(self) -> SessionSpec | None:
        """How its fields are exchanged for a short-lived credential, or None if they are the credential."""
        session = self.spec.session
        if session is None:
            return None
        placements = tuple(map(placement, session.credentials))
        return session.to_spec(absolute(self.spec.base_url, session.url), placements)

    @property
    def exchanged(self) -> frozenset[str]:
        """The secret fields that only the exchange for a session uses, and no other request."""
        spec = self.spec
        if spec.session is None:
            return frozenset()
        texts = [text for credential in spec.credentials for text in credential.texts]
        used = set(fields_in(" ".join([*texts, spec.base_url or "", *spec.headers.values(), *spec.allowed_hosts])))
        return frozenset(field.name for field in spec.fields if field.secret) - used

    @property
    def test_kind(self) -> str | None:
        """``http``, ``mcp``, ``mysql``, ``postgres``, ``smtp``, ``piece``, or None for an app without a test."""
        return self.spec.test.kind if self.spec.test else None

    @property
    def test_request(self) -> RequestSpec | None:
        """The request that tests a credential, or None if the test is not an HTTP request."""
        test = self.spec.test
        return self.request_for(test) if test and test.kind == "http" else None

    @property
    def mcp_request(self) -> RequestSpec | None:
        """Where the MCP server is that tests a credential, or None for an app without one."""
        test = self.spec.test
        return self.request_for(test) if test and test.kind == "mcp" else None

    @property
    def identity_request(self) -> RequestSpec | None:
        """The request whose response identifies the account's owner, or None."""
        identity = self.spec.identity
        if identity is None:
            return None
        return self.request_for(identity) if identity.url else self.test_request

    @property
    def identity_paths(self) -> tuple[str, str, str, str]:
        """The dotted paths of id, name, e-mail address and workspace in the identity response; empty where there is
        none."""
        identity = self.spec.identity
        return (identity.id, identity.name, identity.email, identity.workspace) if identity else ("", "", "", "")

    @property
    def identity_is_optional(self) -> bool:
        """Whether a credential that may not make the identity request is valid, too."""
        return self.spec.identity is not None and self.spec.identity.optional

    @property
    def look_up_request(self) -> RequestSpec | None:
        """The request for fields that the token response lacks, or None if it is complete.

        Credentials and headers that need these fields are left out of it.
        """
        look_up = self.oauth.look_up if self.oauth else None
        if look_up is None:
            return None
        request, sought = self.request_for(look_up), look_up.keep.keys()
        known = tuple(place for place in self.placements if sought.isdisjoint(fields_in(place.value)))
        headers = {name: value for name, value in request.headers.items() if sought.isdisjoint(fields_in(value))}
        return replace(request, placements=known, headers=headers)

    @property
    def site_label(self) -> str:
        """The field that distinguishes the sites that a sign-in may give access to; empty for an app without sites."""
        return self.oauth.look_up.label if self.oauth and self.oauth.look_up else ""

    @property
    def is_discovered(self) -> bool:
        """Whether its endpoints must be discovered from its issuer."""
        return self.oauth is not None and not (self.oauth.authorize_url and self.oauth.token_url)

    @property
    def can_revoke(self) -> bool:
        """Whether its provider supports revoking access."""
        return self.oauth is not None and bool(self.oauth.revoke_url or self.oauth.revocation or self.is_discovered)

    @property
    def revocation_request(self) -> RequestSpec | None:
        """The request that revokes access, or None if that is done by RFC 7009 or not supported."""
        revocation = self.oauth.revocation if self.oauth else None
        if revocation is None:
            return None
        client = Placement("basic", username="{oauth_client_id}", password="{oauth_client_secret}")  # noqa: S106
        body = tuple(Placement("body", name, text) for name, text in revocation.body.items())
        credential = (client,) if revocation.credential == "client" else self.placements
        return replace(self.request_for(revocation), placements=credential + body)

    @property
    def refusal_rules(self) -> RefusalRules:
        """How its provider's responses show that a credential is not valid."""
        refusals = self.spec.refusals
        if refusals is None:
            return RefusalRules()
        rule = refusals.body
        body = BodyRule(rule.path, rule.equals, rule.error_path, tuple(rule.refused)) if rule else None
        return RefusalRules(tuple(refusals.statuses), body)

    @property
    def functional_scopes(self) -> tuple[str, ...]:
        """The scopes that the test request needs."""
        return tuple(scope.scope for scope in self.spec.scopes if scope.functional)

    @property
    def default_scopes(self) -> tuple[str, ...]:
        """The scopes to request without a profile."""
        return tuple(scope.scope for scope in self.spec.scopes if scope.default)

    def profile_scopes(self, profile: str) -> tuple[str, ...] | None:
        """The scopes of a profile, or None for an unknown profile."""
        chosen = self._profile(profile)
        return chosen.scopes if chosen else None

    def scope_words(self, scope: str) -> str:
        """The description of ``scope``, or the scope itself if it is unknown."""
        return next((each.words for each in self.spec.scopes if each.scope == scope), scope)

    def implied(self, scope: str, granted: Sequence[str]) -> bool:
        """Whether another scope in ``granted`` includes ``scope``."""
        return any(scope in each.includes for each in self.spec.scopes if each.scope in granted)

    def provider(
        self,
        client_id: str,
        client_secret: str | None,
        fields: Mapping[str, str] | None = None,
        profile: str | None = None,
        discovered: Mapping[str, str] | None = None,
    ) -> Provider:
        """The OAuth provider with the given client.

        ``fields`` are the values of ``{field}`` in its URLs and in the parameters of the sign-in, ``profile`` is the
        requested scope profile, and ``discovered`` are the URLs from its issuer's metadata.

        Raises :class:`TemplateError` for a field that is missing or does not fit, ``ValueError`` for an app without
        OAuth.
        """
        oauth = self.oauth
        if oauth is None:
            raise ValueError(f"{self.slug} has no OAuth")
        values, chosen = fields or {}, self._profile(profile or "")
        own = {name: getattr(oauth, name) for name in _ADDRESSES}
        urls = {**(discovered or {}), **{name: fill_url(url, values) for name, url in own.items() if url}}
        long_lived = LongLived(**oauth.long_lived.model_dump(exclude={"source"})) if oauth.long_lived else None
        others = (long_lived.exchange_url, long_lived.renewal_url) if long_lived else ()
        reached = {url for name, url in urls.items() if name != "authorize_url"} | {url for url in others if url}
        return Provider(
            authorize_url=urls["authorize_url"],
            token_url=urls["token_url"],
            client_id=client_id,
            client_secret=client_secret,
            refresh_url=urls.get("refresh_url"),
            request_token_url=urls.get("request_token_url"),
            revoke_url=urls.get("revoke_url"),
            issuer=fill_url(oauth.issuer, values) if oauth.issuer else None,
            iss_required=oauth.iss_required,
            token_auth_method="none" if client_secret is None else oauth.token_auth_method,
            client_id_param=oauth.client_id_param,
            pkce=oauth.pkce,
            scope_param=(chosen and chosen.scope_param) or oauth.scope_param,
            scope_separator=oauth.scope_separator,
            extra_authorize_params={name: fill(text, values) for name, text in oauth.authorize_params.items()},
            extra_token_params={
                name: fill(value, values) if isinstance(value, str) else value
                for name, value in oauth.token_params.items()
            },
            extra_refresh_params=oauth.refresh_params,
            token_at=oauth.token_at if chosen is None or chosen.token_at is None else chosen.token_at,
            json_body=oauth.token_body == "json",  # noqa: S105
            error_codes=oauth.error_codes,
            token_headers=oauth.token_headers,
            long_lived=long_lived,
            allowed_hosts=HostRules.of(*{host_rule(url) for url in reached}),
        )

    def _profile(self, name: str) -> ScopeProfile | None:
        profiles = self.oauth.scope_profiles if self.oauth else ()
        return next((profile for profile in profiles if profile.name == name), None)

    def request_for(self, request: Request) -> RequestSpec:
        """A declared request with the base URL, headers and credentials of the app."""
        return RequestSpec(
            url=absolute(self.spec.base_url, request.url),
            method=request.method,
            params=request.params,
            headers={**self.spec.headers, **request.headers},
            json=request.json_body,
            placements=self.placements,
            allowed_hosts=self.allowed_hosts,
        )


def placement(credential: Credential) -> Placement:
    """``credential`` as ``outbound`` places it in a request; it must not be part of the URL."""
    assert credential.place != "url"
    texts = credential.name, credential.value, credential.username, credential.password
    return Placement(credential.place, *texts, credential.parts)


@dataclass(frozen=True, slots=True)
class Category:
    """A category of the catalog, with the number of its apps."""

    id: str
    slug: str
    name: str
    description: str
    apps: int

    @property
    def api_dict(self) -> dict[str, Any]:
        """The category as ``GET /v1/connect/app_categories`` returns it."""
        return {"id": self.id, "name": self.name, "description": self.description}
