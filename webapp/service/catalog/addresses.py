"""Rules for the addresses of an app: https, readable, and within the hosts to which its credential may go.

Templates are judged by filling them with samples, the way a request would fill them with an account's values.
"""

from collections.abc import Iterator

from webapp.service.catalog import variables
from webapp.service.catalog.requests import absolute
from webapp.service.catalog.spec import AppSpec
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.templates import TemplateError, fields_in, fill_hosts, fill_url, host_rule
from webapp.service.outbound.urls import HostRules, Url, parse_url

KNOWN_VARIABLES = {"sandbox": "http://localhost:8001"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def address_problems(spec: AppSpec, *, own: bool) -> Iterator[str]:
    """Everything wrong with the addresses of ``spec``."""
    unknown = variables.names(spec.model_dump_json(by_alias=True)) - KNOWN_VARIABLES.keys()
    if unknown:
        yield f"${{{min(unknown)}}} is no variable; there is ${{sandbox}}."
        return
    samples = _samples(spec)
    for place, text in _addresses(spec):
        url = _read(text, samples)
        if isinstance(url, str):
            yield f"{place}: {url}"
        elif not _encrypted(text, url, own=own):
            yield f"{place} must begin with https://."
    yield from _hosts(spec, samples)


def _hosts(spec: AppSpec, samples: dict[str, str]) -> Iterator[str]:
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
        url = _read(text, samples)
        # An address that a person or a token answer gives as a whole is held against the rules when it is used.
        if isinstance(url, Url) and not text.startswith("{") and not rules.admit(url):
            yield f"{place} is at {url.host}, which allowed_hosts does not name."


def _carrying(spec: AppSpec) -> Iterator[tuple[str, str]]:
    """The addresses to which a credential is sent."""
    if spec.base_url:
        yield "base_url", spec.base_url
    for place, request in spec.requests:
        if request.url:
            yield f"{place}.url", absolute(spec.base_url, request.url)


def _addresses(spec: AppSpec) -> Iterator[tuple[str, str]]:
    yield from _carrying(spec)
    if spec.docs_url:
        yield "docs_url", spec.docs_url
    yield from (("sources", text) for text in spec.sources)
    for field in spec.fields:
        if field.docs_url:
            yield f"the docs_url of the field {field.name}", field.docs_url
    for part in (*spec.credentials, *(request for _, request in spec.requests), spec.refusals):
        if part:
            yield "source", part.source
    if spec.events:
        yield "events.source", spec.events.source
    if spec.session:
        yield "session.source", spec.session.source
        if spec.session.url:
            yield "session.url", absolute(spec.base_url, spec.session.url)
        if spec.session.assertion:
            yield "session.assertion.source", spec.session.assertion.source
    if spec.oauth:
        for name in ("authorize_url", "token_url", "refresh_url", "revoke_url", "issuer"):
            if text := getattr(spec.oauth, name):
                yield f"oauth.{name}", text
        yield "oauth.client.console_url", spec.oauth.client.console_url
        yield from (("oauth.sources", text) for text in (*spec.oauth.sources, spec.oauth.client.source))


def _read(text: str, samples: dict[str, str]) -> Url | str:
    """The address filled with samples, or why it is none."""
    try:
        url = parse_url(fill_url(variables.expand(text, KNOWN_VARIABLES), samples))
    except TemplateError as error:
        return str(error)
    return url.sentence if isinstance(url, Failure) else url


def _encrypted(text: str, url: Url, *, own: bool) -> bool:
    return url.scheme == "https" or text.startswith("${") or (own and url.host in _LOOPBACK)


def _samples(spec: AppSpec) -> dict[str, str]:
    names = {name for _, text in _addresses(spec) for name in fields_in(text)}
    names |= {name for rule in spec.allowed_hosts for name in fields_in(rule)}
    return {name: _sample(spec, name) for name in names}


def _sample(spec: AppSpec, name: str) -> str:
    """A value such as the field would have: a whole address, a port, or one label."""
    addresses = [text for _, text in _addresses(spec)]
    if any(text.startswith(f"{{{name}}}") for text in addresses):
        return "https://sample.example.com"
    ports = [text for text in (*addresses, *spec.allowed_hosts) if f":{{{name}}}" in text]
    return "443" if ports else "sample"
