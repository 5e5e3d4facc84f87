"""Models of what an app says about its requests: where the credential goes, how it is tested, how a refusal looks.

All texts may hold ``{field}``, filled with the account's values when a request is made (see ``outbound.templates``).
"""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from webapp.service.catalog.facts import Address, Facts, Text
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.probe import BodyRule, RefusalRules
from webapp.service.outbound.templates import Placement, TemplateError
from webapp.service.outbound.urls import parse_url

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class Credential(Facts):
    """One place of a request that carries the credential, or a part of it. An app may need several.

    ``bearer``: ``Authorization: Bearer value`` (RFC 6750) · ``header``, ``query``, ``body``: ``name`` = ``value`` ·
    ``basic``: ``username`` and ``password`` (RFC 7617) · ``url``: it stands in ``base_url`` itself, as ``{field}``.
    """

    place: Literal["bearer", "header", "query", "body", "basic", "url"]
    name: str = ""
    value: str = "{oauth_access_token}"
    username: str = ""
    password: str = ""
    source: Address

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.place in ("header", "query", "body") and not self.name:
            raise ValueError(f"a credential in the {self.place} needs the name under which it goes there")
        if self.place == "basic" and not (self.username or self.password):
            raise ValueError("a basic credential needs a username or a password")
        return self

    @property
    def placement(self) -> Placement | None:
        """As ``outbound`` puts it into a request; None where it stands in the address."""
        if self.place == "url":
            return None
        return Placement(self.place, self.name, self.value, self.username, self.password)


class Request(Facts):
    """One request. ``url`` is whole, or begins with ``/`` and follows the app's ``base_url``."""

    method: Method = "GET"
    url: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: dict[str, Any] | None = Field(default=None, alias="json")
    source: Address


class Test(Request):
    """What is asked to learn whether a credential works. ``postgres`` and ``smtp`` sign in to such a server instead."""

    kind: Literal["http", "postgres", "smtp"] = "http"


class Identity(Request):
    """Where the provider says whose account it is. Without ``url``, the answer to the test says it.

    ``id`` and ``name`` are dotted paths in the JSON answer; a number steps into an array.
    """

    id: Text
    name: str = ""


class BodyRefusal(Facts):
    """A refusal told in the body of a 200: the member at ``path`` equals ``equals``.

    Only a code at ``error_path`` that is listed in ``refused`` means the credential; any other is passing trouble.
    """

    path: Text
    equals: str | int | bool = False
    error_path: str = ""
    refused: tuple[str, ...] = ()


class Refusals(Facts):
    """How the provider says that a credential is wrong: by status, or in the body."""

    statuses: tuple[int, ...] = (401, 403)
    body: BodyRefusal | None = None
    source: Address

    @property
    def rules(self) -> RefusalRules:
        """As ``outbound`` judges an answer by them."""
        rule = self.body
        body = BodyRule(rule.path, rule.equals, rule.error_path, frozenset(rule.refused)) if rule else None
        return RefusalRules(frozenset(self.statuses), body)


def absolute(base_url: str | None, url: str) -> str:
    """``url`` as a whole address: one that begins with ``/`` follows ``base_url``."""
    return f"{(base_url or '').rstrip('/')}{url}" if url.startswith("/") else url


def host_rule(text: str) -> str:
    """A host rule; a whole address, such as a filled variable, becomes its host and port.

    Raises :class:`TemplateError`.
    """
    if "://" not in text:
        return text
    url = parse_url(text)
    if isinstance(url, Failure):
        raise TemplateError(url.sentence)
    return f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"
