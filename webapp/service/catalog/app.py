"""An app as the running service sees it. What lists show is held in memory; the rest is read when it is asked for.

The app gives its facts in the forms that ``outbound`` takes: Provider, Placement, RequestSpec, RefusalRules. It holds
no credential.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from webapp.service.catalog.oauth import OAuth
from webapp.service.catalog.requests import Request, absolute, host_rule
from webapp.service.catalog.spec import AppSpec, AuthType, CustomField
from webapp.service.outbound.oauth import Provider
from webapp.service.outbound.probe import RefusalRules, RequestSpec
from webapp.service.outbound.templates import Placement

SANDBOX = "sandbox"
_NO_CLIENT = b'"oauth_app_id":null}'


def _client(oauth_app_id: str) -> bytes:
    return b'"oauth_app_id":' + orjson.dumps(oauth_app_id) + b"}"


@dataclass(frozen=True, slots=True)
class App:
    """One app of the catalog. ``json`` is its App object, ready to be embedded.

    ``sort_name`` is the folded name; ``name_words`` holds it and the slug, each after a line break, then the words of
    both, each after a space; ``own`` tells an app of the operator's.
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
    own: bool
    json: bytes = field(repr=False)
    read_spec: Callable[[str], AppSpec] = field(repr=False, compare=False)

    def with_client(self, oauth_app_id: str | None) -> bytes:
        """``json`` that names the OAuth client which a connection uses."""
        return self.json if oauth_app_id is None else self.json.removesuffix(_NO_CLIENT) + _client(oauth_app_id)

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
    def custom_fields(self) -> tuple[CustomField, ...]:
        """What a person enters to connect, in the order to ask for it."""
        return self.spec.fields

    @property
    def oauth(self) -> OAuth | None:
        """The OAuth facts; None for an app without OAuth."""
        return self.spec.oauth

    @property
    def docs_url(self) -> str | None:
        """The provider's own documentation."""
        return self.spec.docs_url

    @property
    def base_url(self) -> str | None:
        """Where its API begins; may hold ``{field}``."""
        return self.spec.base_url

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that go with every request to its API, such as a version; may hold ``{field}``."""
        return self.spec.headers

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The host rules within which its credential may travel; may hold ``{field}``."""
        return tuple(host_rule(rule) for rule in self.spec.allowed_hosts)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where the credential goes in a request. Empty where it stands in the address."""
        return tuple(
            placement for credential in self.spec.credentials if (placement := credential.placement) is not None
        )

    @property
    def test_kind(self) -> str | None:
        """``http``, ``postgres``, ``smtp``, or None for an app that has nothing to test."""
        return self.spec.test.kind if self.spec.test else None

    @property
    def test_request(self) -> RequestSpec | None:
        """The request that tells whether a credential works; None where it is not one over HTTP."""
        test = self.spec.test
        return self._request(test) if test and test.kind == "http" else None

    @property
    def identity_request(self) -> RequestSpec | None:
        """The request whose answer names the account's owner; None where nothing does."""
        identity = self.spec.identity
        if identity is None:
            return None
        return self._request(identity) if identity.url else self.test_request

    @property
    def identity_paths(self) -> tuple[str, str]:
        """The dotted paths of id and name in the identity answer; both empty where there is none."""
        identity = self.spec.identity
        return (identity.id, identity.name) if identity else ("", "")

    @property
    def look_up_request(self) -> RequestSpec | None:
        """The request that completes the token answer; None where nothing is missing from it."""
        look_up = self.oauth.look_up if self.oauth else None
        return self._request(look_up) if look_up else None

    @property
    def can_revoke(self) -> bool:
        """Whether its provider withdraws access when told so."""
        return self.oauth is not None and bool(self.oauth.revoke_url or self.oauth.revocation)

    @property
    def revocation_request(self) -> RequestSpec | None:
        """The request that withdraws access; None where that is RFC 7009, or cannot be done."""
        revocation = self.oauth.revocation if self.oauth else None
        if revocation is None:
            return None
        return replace(self._request(revocation), placements=revocation.placements(self.placements))

    @property
    def refusal_rules(self) -> RefusalRules:
        """How its provider says that a credential is wrong."""
        return self.spec.refusals.rules if self.spec.refusals else RefusalRules()

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
        return next((each.scopes for each in self.spec.scope_profiles if each.name == profile), None)

    def scope_words(self, scope: str) -> str:
        """What ``scope`` allows, in plain words; the scope itself where it is not known."""
        return next((each.words for each in self.spec.scopes if each.scope == scope), scope)

    def implied(self, scope: str, granted: Sequence[str]) -> bool:
        """Whether another scope in ``granted`` covers ``scope``, so that it need not be named."""
        return any(scope in each.includes for each in self.spec.scopes if each.scope in granted)

    def provider(self, client_id: str, client_secret: str | None, fields: Mapping[str, str] | None = None) -> Provider:
        """The OAuth provider together with a client; ``fields`` fill ``{field}`` in its addresses.

        Raises :class:`TemplateError` for a field that is missing or does not fit, ``ValueError`` for an app without
        OAuth.
        """
        if self.oauth is None:
            raise ValueError(f"{self.slug} has no OAuth")
        return self.oauth.provider(client_id, client_secret, fields or {})

    def _request(self, request: Request) -> RequestSpec:
        return RequestSpec(
            url=absolute(self.base_url, request.url),
            method=request.method,
            params=request.params,
            headers={**self.headers, **request.headers},
            json=request.json_body,
            placements=self.placements,
            allowed_hosts=self.allowed_hosts,
        )
