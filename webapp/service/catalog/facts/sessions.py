"""Models of what an app says about exchanging an account's fields for a credential that lives for a while."""

from typing import Literal, Self

from pydantic import Field, model_validator

from webapp.service.catalog.requests import Address, Credential, Facts, FieldName, Text
from webapp.service.outbound.assertions import Algorithm
from webapp.service.outbound.sessions import AssertionSpec, SessionSpec
from webapp.service.outbound.templates import Placement

TOKEN = "session_token"  # noqa: S105 - the name of a field


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
    """How the fields become ``{session_token}``: one request, which may hold them and ``{assertion}``.

    ``url`` is whole, or begins with ``/`` and follows the app's ``base_url``; without one, the assertion is the
    credential itself. ``token`` and ``expires_in`` are dotted paths in the answer, ``life_s`` says how long it lives
    where the answer does not. ``keep``: further members of the answer (dotted paths), by the names of the fields that
    they become.
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
        """Every text that is filled with fields."""
        assertion = self.assertion
        parts = [self.params, self.headers, self.form or {}, self.json_body or {}]
        parts += [assertion.headers, assertion.claims] if assertion else []
        own = [text for credential in self.credentials for text in credential.texts]
        return (self.url, *own, *(text for part in parts for text in part.values()))

    def to_spec(self, url: str, placements: tuple[Placement, ...]) -> SessionSpec:
        """As ``outbound`` makes the request, to the whole address ``url``."""
        assertion = AssertionSpec(**self.assertion.model_dump(exclude={"source"})) if self.assertion else None
        facts = self.model_dump(include={"method", "params", "headers", "form", "token", "expires_in", "life_s"})
        return SessionSpec(url=url, json=self.json_body, placements=placements, assertion=assertion, **facts)
