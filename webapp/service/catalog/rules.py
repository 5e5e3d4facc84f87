"""What must hold within one app: each rule reads its facts and yields a sentence for every breach."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from webapp.service.catalog import logos
from webapp.service.catalog.addresses import address_problems
from webapp.service.catalog.facts.sessions import TOKEN, Session
from webapp.service.catalog.spec import AppSpec, Category
from webapp.service.components.declared.templates import texts_in
from webapp.service.outbound.sessions import ASSERTION
from webapp.service.outbound.templates import fields_in

_SECRET = re.compile(r"(^|_)(key|token|secret|password|passphrase|pat|credential|credentials)(_|$)")
# The fields that a test needs which is no request over HTTP.
_NEEDED = {
    "mysql": ("host", "port", "database", "user", "password"),
    "postgres": ("host", "port", "database", "user", "password"),
    "smtp": ("host", "port", "encryption", "user", "password"),
}
_GIVEN_BY_OAUTH = ("oauth_access_token", "oauth_client_id", "oauth_uid")


def problems(spec: AppSpec, categories: Mapping[str, Category], *, own: bool) -> Iterator[str]:
    """Everything that is wrong with ``spec``; ``own`` apps may use plain http on loopback."""
    yield from _shelf(spec, categories)
    yield from _auth(spec)
    yield from _fields(spec)
    yield from _templates(spec)
    yield from _credentials(spec)
    yield from _scopes(spec)
    yield from address_problems(spec, own=own)


def _shelf(spec: AppSpec, categories: Mapping[str, Category]) -> Iterator[str]:
    for slug in spec.categories:
        if slug not in categories:
            yield f"the category {slug} does not exist; add it to categories.toml or use another."
    if not logos.exists(spec.logo):
        yield f"there is no icon {spec.logo.icon}; use another, or a letter and a color."
    if not spec.description.endswith("."):
        yield "the description must be a sentence that ends with a full stop."
    if spec.docs_url is None and spec.auth_type != "none":
        yield "docs_url is missing; give the provider's documentation."
    if (spec.base_url or spec.allowed_hosts or spec.headers) and not spec.sources:
        yield "sources is missing: say where base_url, allowed_hosts and headers were read."


def _auth(spec: AppSpec) -> Iterator[str]:
    if (spec.auth_type == "oauth") != (spec.oauth is not None):
        yield "an app has an [oauth] section exactly when its auth_type is oauth."
    if spec.events and (spec.oauth is None or spec.identity is None):
        yield "[events] needs [oauth], whose client they come to, and [identity], which tells whose they are."
    if spec.piece_events and (spec.oauth is None or spec.events):
        yield "[piece_events] needs [oauth], whose client they come to, and no [events]."
    if spec.session and spec.auth_type != "keys":
        yield "an app has a [session] section only when its auth_type is keys."
    if spec.auth_type == "none" and (spec.fields or spec.credentials or spec.test or spec.identity):
        yield "an app without auth has no fields, credentials, test or identity."
    if spec.auth_type == "none":
        return
    if spec.test is None:
        yield "[test] is missing: an account is tested before it is kept."
    if spec.test and (spec.test.kind == "piece") != (spec.piece is not None):
        yield "a test of the kind piece and a [piece] section, which says whose, belong together."
    if spec.test and spec.test.kind == "http" and not spec.test.url:
        yield "test.url is missing."
    needed = _NEEDED.get(spec.test.kind, ()) if spec.test else ()
    missing = [name for name in needed if name not in {field.name for field in spec.fields}]
    if spec.test and missing:
        yield f"a test of the kind {spec.test.kind} needs the fields {', '.join(missing)}."
    if spec.identity and not spec.identity.url and not (spec.test and spec.test.kind == "http"):
        yield "identity needs a url of its own where the test is no http request."


def _fields(spec: AppSpec) -> Iterator[str]:
    for name, count in Counter(field.name for field in spec.fields).items():
        if count > 1:
            yield f"the field {name} is declared twice."
    for field in spec.fields:
        if _SECRET.search(field.name) and not field.secret:
            yield f"the field {field.name} looks like a secret; set secret = true or rename it."
        if field.name.startswith("oauth_"):
            yield f"the field {field.name} may not begin with oauth_; those names belong to tokens."
        if field.secret and field.default:
            yield f"the secret field {field.name} may not have a default."
        if field.options and field.default and field.default not in [option.value for option in field.options]:
            yield f"the default of the field {field.name} is none of its options."
        if field.read_from and field.read_from not in [other.name for other in spec.fields]:
            yield f"the field {field.name} is read from {field.read_from}, which is not a field of this app."
    if spec.auth_type == "keys" and not spec.fields:
        yield "an app with keys needs at least one field to enter them."


def _templates(spec: AppSpec) -> Iterator[str]:
    known = {field.name for field in spec.fields}
    if spec.session:
        known |= {TOKEN, *spec.session.keep}
        yield from _session(spec, spec.session)
    if spec.events:
        known |= spec.events.seen_by.event.keys()
    if spec.oauth:
        known |= {"oauth_client_secret"} if spec.oauth.request_token_url else set()
        known |= {*_GIVEN_BY_OAUTH, *spec.oauth.keep, *(spec.oauth.look_up.keep if spec.oauth.look_up else ())}
    for place, text in _texts(spec):
        for name in fields_in(text.replace("${", "")):
            if name not in known:
                yield f"{place} uses {{{name}}}, which is not a field of this app."


def _session(spec: AppSpec, session: Session) -> Iterator[str]:
    """What is wrong with the exchange, which looks at the fields that a person enters, and at its assertion."""
    fields = {field.name for field in spec.fields}
    if taken := fields & {TOKEN, ASSERTION, *session.keep}:
        yield f"the field {min(taken)} may not be one; that name belongs to what the session gives."
    for name in dict.fromkeys(name for text in session.texts for name in fields_in(text.replace("${", ""))):
        if name not in fields and not (name == ASSERTION and session.assertion):
            yield f"session uses {{{name}}}, which is not a field of this app."
    if session.assertion and session.assertion.key not in fields:
        yield f"session.assertion.key is {session.assertion.key}, which is not a field of this app."
    if not any(f"{{{TOKEN}}}" in text for credential in spec.credentials for text in credential.texts):
        yield f"no credential uses {{{TOKEN}}}, which the session gives."


def _texts(spec: AppSpec) -> Iterator[tuple[str, str]]:
    """Every text that is filled with fields, and where it stands."""
    yield "base_url", spec.base_url or ""
    yield from (("allowed_hosts", rule) for rule in spec.allowed_hosts)
    yield from ((f"headers.{name}", value) for name, value in spec.headers.items())
    yield from (("credentials", text) for credential in spec.credentials for text in credential.texts)
    for part, request in spec.requests:
        yield f"{part}.url", request.url
        yield from ((f"{part}.params", value) for value in request.params.values())
        yield from ((f"{part}.headers", value) for value in request.headers.values())
        yield from ((f"{part}.json", text) for text in texts_in(request.json_body))
    if spec.oauth:
        for name in ("authorize_url", "token_url", "refresh_url", "revoke_url", "issuer"):
            yield f"oauth.{name}", getattr(spec.oauth, name) or ""


def _credentials(spec: AppSpec) -> Iterator[str]:
    secret = {field.name for field in spec.fields if field.secret} | {"oauth_access_token", TOKEN}
    in_base = secret & set(fields_in((spec.base_url or "").replace("${", "")))
    declared = any(credential.place == "url" for credential in spec.credentials)
    if in_base and not declared:
        yield "base_url holds a secret; declare it as a credential with place = url, or send it in a header."
    if declared and not in_base:
        yield "a credential with place = url needs a secret field in base_url."
    if not spec.credentials:
        if spec.auth_type != "none" and not (spec.test and spec.test.kind in (*_NEEDED, "piece")):
            yield "[[credentials]] is missing: say where the credential goes in a request."
        return
    used = {name for credential in spec.credentials for text in credential.texts for name in fields_in(text)}
    if not (used | in_base) & secret:
        yield "no credential uses a secret field of this app."


def _scopes(spec: AppSpec) -> Iterator[str]:
    oauth = spec.oauth
    if oauth is None:
        return
    known = [scope.scope for scope in oauth.scopes]
    for name, count in Counter([*known, *(profile.name for profile in oauth.scope_profiles)]).items():
        if count > 1:
            yield f"the scope or profile {name} is declared twice."
    functional = [scope.scope for scope in oauth.scopes if scope.functional]
    for profile in oauth.scope_profiles:
        for scope in profile.scopes:
            if scope not in known:
                yield f"the profile {profile.name} names {scope}, which is not a declared scope."
        for scope in functional:
            if scope not in profile.scopes:
                yield f"the profile {profile.name} leaves out {scope}, which the test request needs."
    for entry in oauth.scopes:
        if entry.functional and (entry.optional or not entry.default):
            yield f"the scope {entry.scope} is functional, so it is neither optional nor left out by default."
    if oauth.iss_required and oauth.issuer is None:
        yield "oauth.iss_required needs oauth.issuer."
