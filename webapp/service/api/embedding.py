"""Checks whether a page of the developer's product can show the Connect Link."""

from dataclasses import asdict
from typing import Annotated, Literal

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Body, Data, DateTime
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.access import page_check, refused_origins
from webapp.service.domain.base import token_scopes

operations = Operations(
    Group("Embedding", "Whether your own pages can show the Connect Link."),
    read=(token_scopes.PROJECTS_READ,),
    write=(token_scopes.PROJECTS_READ,),
    connect=False,
    extension=True,
)


class PageToCheck(Body):
    """The page, and the origins that its tokens will allow."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)] = Field(description="The address of the page.")
    allowed_origins: list[str] = Field(default_factory=list, description="As they are given to a Connect token.")
    printed: Annotated[str, Field(max_length=600_000)] | None = Field(
        None, description="What `curl -si` prints of a page that this service cannot reach. It is not fetched then."
    )


class EmbedFinding(Answer):
    """One condition of showing the Connect Link on a page. `remedy` is a line to copy where something has to change."""

    code: Literal["origin", "https", "page", "status", "opener", "frame", "script", "connect", "embedder", "sandbox"]
    state: Literal["ok", "warn", "bad"]
    title: str = Field(examples=["Your page forbids our frame"])
    detail: str
    remedy: str = Field(examples=["frame-src https://connect.example.com"])


class EmbedCheck(Answer):
    """The result of a check of a page. `looked_at` is the address that responded; empty if none did."""

    origin: str = Field(examples=["https://app.example.com"])
    looked_at: str
    findings: list[EmbedFinding]
    checked_at: DateTime


class RefusedOrigin(Answer):
    """The origin of a page that showed a Connect token which does not allow it."""

    origin: str = Field(examples=["http://localhost:5173"])
    refused_at: DateTime


@operations.post(
    "P/embed_check",
    answer=Data[EmbedCheck],
    body=PageToCheck,
    limit="proxy",
    example=Example(
        body={
            "url": "https://app.example.com/settings",
            "allowed_origins": ["https://app.example.com"],
            "printed": "HTTP/1.1 200 OK",
        }
    ),
)
def check_embedding(call: Call) -> Response:
    """Look at a page: its origin, https, and what its headers and policies forbid."""
    body = call.body(PageToCheck)
    check = page_check.check(call.service, body.url, body.allowed_origins, body.printed or None)
    return answer({"data": {**asdict(check), "checked_at": iso(call.service.clock())}})


@operations.get("P/refused_origins", answer=Data[list[RefusedOrigin]])
def list_refused_origins(call: Call) -> Response:
    """Origins of pages that showed a Connect token which does not allow them, in 30 days, the latest first."""
    refused = refused_origins.latest(call.service, call.scene)
    return answer({"data": [{"origin": row.origin, "refused_at": iso(row.seen_at)} for row in refused]})
