"""An app as the running service sees it. What lists show is held in memory; the rest is read when it is asked for.

The app gives its facts in the forms that ``outbound`` takes: Provider, Placement, RequestSpec, RefusalRules. It holds
no credential.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
from webapp.service.outbound.oauth import Provider
from webapp.service.outbound.probe import BodyRule, RefusalRules, RequestSpec
from webapp.service.outbound.sessions import SessionSpec
from webapp.service.outbound.templates import Placement, fields_in, fill_url, host_rule
from webapp.service.outbound.urls import HostRules

SANDBOX = "sandbox"
_NO_CLIENT = b'"oauth_app_id":null}'
_ADDRESSES = ("authorize_url", "token_url", "refresh_url", "request_token_url", "revoke_url")


@dataclass(frozen=True, slots=True)
class App:
    """One app of the catalog. ``json`` is its App object, ready to be embedded.

    ``sort_name`` is the folded name; ``name_words`` holds it and the slug, each after a line break, then the words of
    both, each after a space; ``own`` tells an app of the operator's; ``aliases`` are other slugs that find it.
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
    json: bytes = field(repr=False)
    read_spec: Callable[[str], AppSpec] = field(repr=False, compare=False)

    def with_client(self, oauth_app_id: str | None) -> bytes:
        """``json`` that names the OAuth client which a connection uses."""
        if oauth_app_id is None:
            return self.json
        return self.json.removesuffix(_NO_CLIENT) + b'"oauth_app_id":' + orjson.dumps(oauth_app_id) + b"}"

    def ready(self, clients: Collection[str]) -> bool:
        """Whether it can be used: an app with OAuth needs to be among the slugs that a client is there for."""
        return self.auth_type != "oauth" or self.slug in clients

    @property
    def api_dict(self) -> dict[str, Any]:
        """A fresh copy of the App object, for a caller that adds to it."""
        fields: dict[str, Any] = orjson.loads(self.json)
        return fields

    @property
    def spec(self) -> AppSpec:
        """Everything in its ``app.toml``, with the installation's variables filled."""
        return self.read_spec(self.slug)

    @property
    def is_sandbox(self) -> bool:
        """Whether the built-in third party serves it."""
        return SANDBOX in self.variables

    @property
    def oauth(self) -> OAuth | None:
        """The OAuth facts; None for an app without OAuth."""
        return self.spec.oauth

    @property
    def client_note(self) -> ClientNote:
        """How its OAuth client is made. Raises ``ValueError`` for an app without OAuth."""
        if self.oauth is None:
            raise ValueError(f"{self.slug} has no OAuth")
        return self.oauth.client

    @property
    def provider_name(self) -> str:
        """Who gives its OAuth client, such as Google for Gmail."""
        return (self.oauth and self.oauth.client.provider) or self.name

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The host rules within which its credential may travel; may hold ``{field}``."""
        return tuple(host_rule(rule) for rule in self.spec.allowed_hosts)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where the credential goes in a request. Empty where it stands in the address."""
        return tuple(placement(credential) for credential in self.spec.credentials if credential.place != "url")

    @property
    def session(self) -> SessionSpec | None:
        """How its fields are exchanged for a credential that lives for a while; None where they are the credential."""
        session = self.spec.session
        if session is None:
            return None
        placements = tuple(map(placement, session.credentials))
        return session.to_spec(absolute(self.spec.base_url, session.url), placements)

    @property
    def exchanged(self) -> frozenset[str]:
        """The secret fields that only the exchange for a session looks at, so that no request holds them."""
        spec = self.spec
        if spec.session is None:
            return frozenset()
        texts = [text for credential in spec.credentials for text in credential.texts]
        used = set(fields_in(" ".join([*texts, spec.base_url or "", *spec.headers.values(), *spec.allowed_hosts])))
        return frozenset(field.name for field in spec.fields if field.secret) - used

    @property
    def test_kind(self) -> str | None:
        """``http``, ``mysql``, ``postgres``, ``smtp``, ``piece``, or None for an app that has nothing to test."""
        return self.spec.test.kind if self.spec.test else None

    @property
    def test_request(self) -> RequestSpec | None:
        """The request that tells whether a credential works; None where it is not one over HTTP."""
        test = self.spec.test
        return self.request_for(test) if test and test.kind == "http" else None

    @property
    def identity_request(self) -> RequestSpec | None:
        """The request whose answer names the account's owner; None where nothing does."""
        identity = self.spec.identity
        if identity is None:
            return None
        return self.request_for(identity) if identity.url else self.test_request

    @property
    def identity_paths(self) -> tuple[str, str, str, str]:
        """The dotted paths of id, name, e-mail address and workspace in the identity answer; empty where there is
        none."""
        identity = self.spec.identity
        return (identity.id, identity.name, identity.email, identity.workspace) if identity else ("", "", "", "")

    @property
    def identity_is_optional(self) -> bool:
        """Whether a credential is good that may not ask whose it is."""
        return self.spec.identity is not None and self.spec.identity.optional

    @property
    def look_up_request(self) -> RequestSpec | None:
        """The request that completes the token answer; None where nothing is missing from it.

        It carries no credential and no header that holds what it is to find.
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
        """The field that tells sites apart, of which a sign-in may reach several; empty for an app without such."""
        return self.oauth.look_up.label if self.oauth and self.oauth.look_up else ""

    @property
    def is_discovered(self) -> bool:
        """Whether its addresses are to be asked of its issuer."""
        return self.oauth is not None and not (self.oauth.authorize_url and self.oauth.token_url)

    @property
    def can_revoke(self) -> bool:
        """Whether its provider withdraws access when told so."""
        return self.oauth is not None and bool(self.oauth.revoke_url or self.oauth.revocation or self.is_discovered)

    @property
    def revocation_request(self) -> RequestSpec | None:
        """The request that withdraws access; None where that is RFC 7009, or cannot be done."""
        revocation = self.oauth.revocation if self.oauth else None
        if revocation is None:
            return None
        client = Placement("basic", username="{oauth_client_id}", password="{oauth_client_secret}")  # noqa: S106
        body = tuple(Placement("body", name, text) for name, text in revocation.body.items())
        credential = (client,) if revocation.credential == "client" else self.placements
        return replace(self.request_for(revocation), placements=credential + body)

    @property
    def refusal_rules(self) -> RefusalRules:
        """How its provider says that a credential is wrong."""
        refusals = self.spec.refusals
        if refusals is None:
            return RefusalRules()
        rule = refusals.body
        body = BodyRule(rule.path, rule.equals, rule.error_path, tuple(rule.refused)) if rule else None
        return RefusalRules(tuple(refusals.statuses), body)

    @property
    def functional_scopes(self) -> tuple[str, ...]:
        """The scopes without which the test request fails."""
        return tuple(scope.scope for scope in self.spec.scopes if scope.functional)

    @property
    def default_scopes(self) -> tuple[str, ...]:
        """The scopes to ask for when nobody names a profile."""
        return tuple(scope.scope for scope in self.spec.scopes if scope.default)

    def profile_scopes(self, profile: str) -> tuple[str, ...] | None:
        """The scopes of a profile; None for a name that the app does not have."""
        chosen = self._profile(profile)
        return chosen.scopes if chosen else None

    def scope_words(self, scope: str) -> str:
        """What ``scope`` allows, in plain words; the scope itself where it is not known."""
        return next((each.words for each in self.spec.scopes if each.scope == scope), scope)

    def implied(self, scope: str, granted: Sequence[str]) -> bool:
        """Whether another scope in ``granted`` covers ``scope``, so that it need not be named."""
        return any(scope in each.includes for each in self.spec.scopes if each.scope in granted)

    def provider(
        self,
        client_id: str,
        client_secret: str | None,
        fields: Mapping[str, str] | None = None,
        profile: str | None = None,
        discovered: Mapping[str, str] | None = None,
    ) -> Provider:
        """The OAuth provider together with a client; ``fields`` fill ``{field}`` in its addresses, ``discovered`` are
        those that its issuer gave, and ``profile`` is the scope profile that a sign-in asks for.

        Raises :class:`TemplateError` for a field that is missing or does not fit, ``ValueError`` for an app without
        OAuth.
        """
        oauth = self.oauth
        if oauth is None:
            raise ValueError(f"{self.slug} has no OAuth")
        values, chosen = fields or {}, self._profile(profile or "")
        own = {name: getattr(oauth, name) for name in _ADDRESSES}
        urls = {**(discovered or {}), **{name: fill_url(url, values) for name, url in own.items() if url}}
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
            pkce=oauth.pkce,
            scope_param=(chosen and chosen.scope_param) or oauth.scope_param,
            scope_separator=oauth.scope_separator,
            extra_authorize_params=oauth.authorize_params,
            extra_token_params=oauth.token_params,
            extra_refresh_params=oauth.refresh_params,
            token_at=oauth.token_at if chosen is None or chosen.token_at is None else chosen.token_at,
            json_body=oauth.token_body == "json",  # noqa: S105
            error_codes=oauth.error_codes,
            token_headers=oauth.token_headers,
            allowed_hosts=HostRules.of(*{host_rule(url) for name, url in urls.items() if name != "authorize_url"}),
        )

    def _profile(self, name: str) -> ScopeProfile | None:
        profiles = self.oauth.scope_profiles if self.oauth else ()
        return next((profile for profile in profiles if profile.name == name), None)

    def request_for(self, request: Request) -> RequestSpec:
        """A declared request with what all of its app's bear."""
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
    """As ``outbound`` puts a credential into a request; not for one that stands in the address itself."""
    assert credential.place != "url"
    texts = credential.name, credential.value, credential.username, credential.password
    return Placement(credential.place, *texts, credential.parts)


@dataclass(frozen=True, slots=True)
class Category:
    """One shelf of the catalog, with the number of its apps."""

    id: str
    slug: str
    name: str
    description: str
    apps: int

    @property
    def api_dict(self) -> dict[str, Any]:
        """As ``GET /v1/connect/app_categories`` shows it."""
        return {"id": self.id, "name": self.name, "description": self.description}
