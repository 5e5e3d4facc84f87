"""Validates a catalog: :func:`judge` separates the valid apps from others, and lists problems as ``path: sentence``.

It checks rules about the whole catalog, then those about each app, then those about its URLs: https, well-formed, and
on hosts to which its credential may be sent. Templates of URLs are filled with samples, as a request would fill them
with an account's values. The shape of the files is left to ``spec``.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from webapp.kit.networks import LOOPBACK_NAMES
from webapp.service.catalog import api_documents, logos, variables
from webapp.service.catalog.sources import Source, Sources
from webapp.service.catalog.spec import SESSION_TOKEN, AppSpec, Category, OAuth, Session, absolute
from webapp.service.components.declared.templates import texts_in
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.key_sessions import ASSERTION
from webapp.service.outbound.templates import TemplateError, fields_in, fill_hosts, fill_url, host_rule
from webapp.service.outbound.urls import HostRules, Url, parse_url

_SECRET = re.compile(r"(^|_)(key|token|secret|password|passphrase|pat|credential|credentials)(_|$)")
# The fields that a test other than an HTTP request needs.
_REQUIRED_BY_AUTH = {
    "mysql": ("host", "port", "database", "user", "password"),
    "postgres": ("host", "port", "database", "user", "password"),
    "smtp": ("host", "port", "encryption", "user", "password"),
}
_GIVEN_BY_OAUTH = ("oauth_access_token", "oauth_client_id", "oauth_uid")
KNOWN_VARIABLES = {"sandbox": "http://localhost:8001"}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table that ``patchbay catalog check`` prints."""

    slug: str
    name: str
    auth_type: str
    actions: int
    triggers: int
    categories: tuple[str, ...]
    registry_keys: int
    problems: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result: the valid apps, a row for each app, and all problems as ``path: sentence``."""

    sound: tuple[Source, ...]
    rows: tuple[Row, ...]
    problems: tuple[str, ...]


def judge(sources: Sources) -> Verdict:
    """Check all apps in ``sources``."""
    logos.load(source.spec.logo.icon for source in sources.apps if source.spec.logo.icon)
    taken: dict[str, Source] = {}
    sound, rows, problems = [], [], list(sources.problems)
    for source in sources.apps:
        app_problems = [
            *_place(source, taken),
            *_aliases(source, sources),
            *breaches(source.spec, sources.categories, own=source.own),
        ]
        taken.setdefault(source.spec.slug, source)
        rows.append(_row(source, len(app_problems)))
        problems += [f"{source.path}: {sentence}" for sentence in app_problems]
        if not app_problems:
            sound.append(source)
    return Verdict(tuple(sound), tuple(rows), tuple(problems))


def _place(source: Source, taken: dict[str, Source]) -> Iterator[str]:
    slug = source.spec.slug
    if source.path.split("/")[0] != slug:
        yield f"the folder must have the name of the slug, {slug}."
    before = taken.get(slug)
    if before is None:
        return
    if source.own and not before.own:
        yield f"there is a built-in app with the slug {slug}; give yours another."
    else:
        yield f"another app has the slug {slug} already; give this one another."


def _aliases(source: Source, sources: Sources) -> Iterator[str]:
    """The problems with an app's aliases. An operator's app may take an alias of a built-in app as its slug."""
    if not source.spec.aliases:
        return
    others = [other for other in sources.apps if other is not source and other.own <= source.own]
    for alias in source.spec.aliases:
        holders = [other.spec.slug for other in others if alias in (other.spec.slug, *other.spec.aliases)]
        if alias == source.spec.slug or holders:
            yield f"the alias {alias} is a name of {next(iter(holders), alias)} already; leave it out."


def _row(source: Source, problems: int) -> Row:
    spec, keys = source.spec, {(component.kind, component.key) for component in source.components}
    return Row(
        slug=spec.slug,
        name=spec.name,
        auth_type=spec.auth_type,
        actions=sum(kind == "action" for kind, _ in keys),
        triggers=sum(kind == "trigger" for kind, _ in keys),
        categories=spec.categories,
        registry_keys=0 if source.of else len(source.keys),
        problems=problems,
    )


def breaches(spec: AppSpec, categories: Mapping[str, Category], *, own: bool) -> Iterator[str]:
    """All problems of ``spec``; ``own`` apps may use plain http on loopback addresses."""
    yield from _listing(spec, categories)
    yield from _auth(spec)
    yield from _fields(spec)
    yield from _templates(spec)
    yield from _credentials(spec)
    yield from _scopes(spec)
    yield from _api(spec)
    yield from address_problems(spec, own=own)
    if spec.sign_in is not None:
        if spec.auth_type != "keys":
            yield "[sign_in] is another way to connect an app of keys; auth_type is not keys."
        way = spec.by_sign_in
        for name in set(spec.sign_in.fields) - {field.name for field in spec.fields}:
            yield f"sign_in.fields names {name}, which is not a field of this app."
        checks = (_auth(way), _fields(way), _templates(way), _credentials(way), _scopes(way))
        yield from (f"sign_in: {sentence}" for check in checks for sentence in check)
        yield from (f"sign_in: {sentence}" for sentence in address_problems(way, own=own))


def _api(spec: AppSpec) -> Iterator[str]:
    for document in spec.api.documents if spec.api else ():
        try:
            api_documents.place(document)
        except ValueError as error:
            yield f"api.documents: {error}"


def _listing(spec: AppSpec, categories: Mapping[str, Category]) -> Iterator[str]:
    for slug in spec.categories:
        if slug not in categories:
            yield f"the category {slug} does not exist; add it to categories.toml or use another."
    if not logos.exists(spec.logo):
        missing = f"mark {spec.logo.mark}" if spec.logo.mark else f"icon {spec.logo.icon}"
        yield f"there is no {missing}; use another, or a letter and a color."
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
    if spec.notices and spec.oauth is None:
        yield "[notices] needs [oauth], whose client's secret signs them."
    if spec.piece_events and (spec.oauth is None or spec.events):
        yield "[piece_events] needs [oauth], whose client they come to, and no [events]."
    if spec.session and spec.auth_type != "keys":
        yield "an app has a [session] section only when its auth_type is keys."
    if spec.auth_type == "none" and (spec.fields or spec.credentials or spec.test or spec.identity):
        yield "an app without auth has no fields, credentials, test or identity."
    if spec.auth_type != "none":
        yield from _test(spec)


def _test(spec: AppSpec) -> Iterator[str]:
    if spec.test is None:
        yield "[test] is missing: an account is tested before it is kept."
    if spec.test and (spec.test.kind == "piece") != (spec.piece is not None):
        yield "a test of the kind piece and a [piece] section, which says whose, belong together."
    if spec.test and spec.test.kind in ("http", "mcp") and not spec.test.url:
        yield "test.url is missing."
    needed = _REQUIRED_BY_AUTH.get(spec.test.kind, ()) if spec.test else ()
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
        known |= {SESSION_TOKEN, *spec.session.keep}
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
    """The problems of the session exchange and its assertion, which use the fields that a person enters."""
    fields = {field.name for field in spec.fields}
    if taken := fields & {SESSION_TOKEN, ASSERTION, *session.keep}:
        yield f"the field {min(taken)} may not be one; that name belongs to what the session gives."
    for name in dict.fromkeys(name for text in session.texts for name in fields_in(text.replace("${", ""))):
        if name not in fields and not (name == ASSERTION and session.assertion):
            yield f"session uses {{{name}}}, which is not a field of this app."
    if session.assertion and session.assertion.key not in fields:
        yield f"session.assertion.key is {session.assertion.key}, which is not a field of this app."
    if not any(f"{{{SESSION_TOKEN}}}" in text for credential in spec.credentials for text in credential.texts):
        yield f"no credential uses {{{SESSION_TOKEN}}}, which the session gives."


def _texts(spec: AppSpec) -> Iterator[tuple[str, str]]:
    """Every text that may contain ``{field}``, with its place in the file."""
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
        yield from ((f"oauth.authorize_params.{name}", text) for name, text in spec.oauth.authorize_params.items())
        yield from ((f"oauth.token_params.{name}", str(text)) for name, text in spec.oauth.token_params.items())


def _credentials(spec: AppSpec) -> Iterator[str]:
    secret = {field.name for field in spec.fields if field.secret} | {"oauth_access_token", SESSION_TOKEN}
    looked_up = spec.oauth.look_up.keep if spec.oauth and spec.oauth.look_up else {}
    secret |= {name for name in looked_up if _SECRET.search(name)}
    in_base = secret & set(fields_in((spec.base_url or "").replace("${", "")))
    declared = any(credential.place == "url" for credential in spec.credentials)
    if in_base and not declared:
        yield "base_url holds a secret; declare it as a credential with place = url, or send it in a header."
    if declared and not in_base:
        yield "a credential with place = url needs a secret field in base_url."
    if not spec.credentials:
        if spec.auth_type != "none" and not (spec.test and spec.test.kind in (*_REQUIRED_BY_AUTH, "piece")):
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
    yield from _profiles(oauth)
    for entry in oauth.scopes:
        if entry.functional and (entry.optional or not entry.default):
            yield f"the scope {entry.scope} is functional, so it is neither optional nor left out by default."
    if oauth.iss_required and oauth.issuer is None:
        yield "oauth.iss_required needs oauth.issuer."


def _profiles(oauth: OAuth) -> Iterator[str]:
    known = {scope.scope for scope in oauth.scopes}
    functional = [scope.scope for scope in oauth.scopes if scope.functional]
    for profile in oauth.scope_profiles:
        for scope in profile.scopes:
            if scope not in known:
                yield f"the profile {profile.name} names {scope}, which is not a declared scope."
        for scope in functional:
            if scope not in profile.scopes:
                yield f"the profile {profile.name} leaves out {scope}, which the test request needs."


def address_problems(spec: AppSpec, *, own: bool) -> Iterator[str]:
    """All problems with the URLs of ``spec``."""
    unknown = variables.names(spec.model_dump_json(by_alias=True)) - KNOWN_VARIABLES.keys()
    if unknown:
        yield f"${{{min(unknown)}}} is no variable; there is ${{sandbox}}."
        return
    samples = _samples(spec)
    read = functools.cache(lambda text: _read(text, samples))  # many facts of an app have the same source
    for place, text in _addresses(spec):
        url = read(text)
        if isinstance(url, str):
            yield f"{place}: {url}"
        elif not _encrypted(text, url, own=own):
            yield f"{place} must begin with https://."
    yield from _hosts(spec, samples, read)


def _hosts(spec: AppSpec, samples: dict[str, str], read: Callable[[str], Url | str]) -> Iterator[str]:
    carrying = list(_carrying(spec))
    if carrying and spec.credentials and not spec.allowed_hosts:
        yield "allowed_hosts is missing: name the hosts to which the credential may go."
        return
    try:
        expanded = [host_rule(variables.expand(rule, KNOWN_VARIABLES)) for rule in spec.allowed_hosts]
        rules = HostRules.of(*fill_hosts(expanded, samples))
    except ValueError as error:
        yield f"allowed_hosts: {error}"
        return
    for place, text in carrying:
        url = read(text)
        # A whole URL from a person or a token response is checked against the rules when it is used.
        if isinstance(url, Url) and not text.startswith("{") and not rules.admit(url):
            yield f"{place} is at {url.host}, which allowed_hosts does not name."


def _carrying(spec: AppSpec) -> Iterator[tuple[str, str]]:
    """The URLs to which a credential is sent."""
    if spec.base_url:
        yield "base_url", spec.base_url
    for place, request in spec.requests:
        if request.url:
            yield f"{place}.url", absolute(spec.base_url, request.url)


def _addresses(spec: AppSpec) -> Iterator[tuple[str, str]]:
    yield from _carrying(spec)
    if spec.docs_url:
        yield "docs_url", spec.docs_url
    for field in spec.fields:
        if field.docs_url:
            yield f"the docs_url of the field {field.name}", field.docs_url
    if spec.session and spec.session.url:
        yield "session.url", absolute(spec.base_url, spec.session.url)
    if spec.oauth:
        for name in ("authorize_url", "token_url", "refresh_url", "revoke_url", "issuer"):
            if text := getattr(spec.oauth, name):
                yield f"oauth.{name}", text
        if facts := spec.oauth.long_lived:
            yield from (("oauth.long_lived", url) for url in (facts.exchange_url, facts.renewal_url) if url)
        yield "oauth.client.console_url", spec.oauth.client.console_url
    yield from _sources(spec)


def _sources(spec: AppSpec) -> Iterator[tuple[str, str]]:
    """The URLs of the sources of the facts."""
    yield from (("sources", text) for text in spec.sources)
    for part in (*spec.credentials, *(request for _, request in spec.requests), spec.refusals):
        if part:
            yield "source", part.source
    if spec.events:
        yield "events.source", spec.events.source
    if spec.notices:
        yield "notices.source", spec.notices.source
    if spec.session:
        yield "session.source", spec.session.source
        if spec.session.assertion:
            yield "session.assertion.source", spec.session.assertion.source
    if spec.oauth:
        yield from (("oauth.sources", text) for text in (*spec.oauth.sources, spec.oauth.client.source))


def _read(text: str, samples: dict[str, str]) -> Url | str:
    """The URL filled with samples, or a sentence why it is not valid."""
    try:
        url = parse_url(fill_url(variables.expand(text, KNOWN_VARIABLES), samples))
    except TemplateError as error:
        return str(error)
    return url.sentence if isinstance(url, Failure) else url


def _encrypted(text: str, url: Url, *, own: bool) -> bool:
    return url.scheme == "https" or text.startswith("${") or (own and url.host in LOOPBACK_NAMES)


def _samples(spec: AppSpec) -> dict[str, str]:
    names = {name for _, text in _addresses(spec) for name in fields_in(text)}
    names |= {name for rule in spec.allowed_hosts for name in fields_in(rule)}
    return {name: _sample(spec, name) for name in names}


def _sample(spec: AppSpec, name: str) -> str:
    """A plausible value of the field: a whole URL, a port, or one label of a host name."""
    addresses = [text for _, text in _addresses(spec)]
    if any(text.startswith(f"{{{name}}}") for text in addresses):
        return "https://sample.example.com"
    ports = [text for text in (*addresses, *spec.allowed_hosts) if f":{{{name}}}" in text]
    return "443" if ports else "sample"
