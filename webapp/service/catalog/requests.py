"""Models of what an app says about its requests: where the credential goes, how it is tested, how a refusal looks; and
what every model of ``app.toml`` is made of.

All texts may hold ``{field}``, filled with the account's values when a request is made (see ``outbound.templates``).
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from webapp.service.outbound.signing import PARTS

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
# An address as an app declares it: https, or a template that begins with a field or an installation's variable.
Address = Annotated[str, StringConstraints(pattern=r"^(https?://|\{|\$\{)[^\s\\]*$", max_length=2000)]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class Facts(BaseModel):
    """Facts that were read once and never change; a key that is not declared here is a mistake."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Credential(Facts):
    """One place of a request that carries the credential, or a part of it. An app may need several.

    ``bearer``: ``Authorization: Bearer value`` (RFC 6750) · ``header``, ``query``, ``body``: ``name`` = ``value`` ·
    ``basic``: ``username`` and ``password`` (RFC 7617) · ``url``: it stands in ``base_url`` itself, as ``{field}`` ·
    ``sigv4``, ``oauth1``: it signs the final request with ``parts`` (AWS Signature Version 4; RFC 5849).
    """

    place: Literal["bearer", "header", "query", "body", "basic", "url", "sigv4", "oauth1"]
    name: str = ""
    value: str = "{oauth_access_token}"
    username: str = ""
    password: str = ""
    parts: dict[str, str] = Field(default_factory=dict)
    source: Address

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of it that is filled with fields."""
        if self.place == "basic":
            return self.username, self.password
        if self.place in PARTS:
            return tuple(self.parts.values())
        return () if self.place == "url" else (self.value,)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed, optional = PARTS.get(self.place, ((), ()))
        if missing := [name for name in needed if name not in self.parts]:
            raise ValueError(f"a {self.place} credential needs {', '.join(missing)} in parts")
        if unknown := [name for name in self.parts if name not in (*needed, *optional)]:
            raise ValueError(f"a {self.place} credential has no part {unknown[0]}")
        if self.place in ("header", "query", "body") and not self.name:
            raise ValueError(f"a credential in the {self.place} needs the name under which it goes there")
        if self.place == "basic" and not (self.username or self.password):
            raise ValueError("a basic credential needs a username or a password")
        return self


class Request(Facts):
    """One request. ``url`` is whole, or begins with ``/`` and follows the app's ``base_url``."""

    method: Method = "GET"
    url: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: dict[str, Any] | None = Field(default=None, alias="json")
    source: Address


class Test(Request):
    """What is asked to learn whether a credential works. ``mysql``, ``postgres`` and ``smtp`` sign in to such a server
    instead; ``piece`` asks the package that brought the app."""

    kind: Literal["http", "mysql", "postgres", "smtp", "piece"] = "http"


class Identity(Request):
    """Where the provider says whose account it is. Without ``url``, the answer to the test says it.

    ``id``, ``name``, ``email`` and ``workspace`` are dotted paths in the JSON answer; a number steps into an array. The
    workspace stands beside the name, for providers where a person may have several. ``optional``: a credential that may
    not ask (403) is good all the same.
    """

    id: Text
    name: str = ""
    email: str = ""
    workspace: str = ""
    optional: bool = False


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


def absolute(base_url: str | None, url: str) -> str:
    """``url`` as a whole address: one that begins with ``/`` follows ``base_url``."""
    return f"{(base_url or '').rstrip('/')}{url}" if url.startswith("/") else url
