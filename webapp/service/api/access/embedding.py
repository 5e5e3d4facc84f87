"""Whether a page of the developer's own product can show the Connect Link, before anybody tries."""

from dataclasses import asdict
from typing import Annotated

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso
from webapp.service.api.access import models
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body, Data
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.access import embedding
from webapp.service.domain.base import scopes

operations = Operations(
    Group("Embedding", "Whether your own pages can show the Connect Link."),
    read=(scopes.PROJECTS_READ,),
    write=(scopes.PROJECTS_READ,),
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


@operations.post(
    "P/embed_check",
    answer=Data[models.EmbedCheck],
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
    check = embedding.check(call.service, body.url, body.allowed_origins, body.printed or None)
    return answer({"data": {**asdict(check), "checked_at": iso(call.service.clock())}})


@operations.get("P/refused_origins", answer=Data[list[models.RefusedOrigin]])
def list_refused_origins(call: Call) -> Response:
    """Origins of pages that showed a Connect token which does not allow them, in 30 days, the latest first."""
    refused = embedding.latest(call.service, call.scene)
    return answer({"data": [{"origin": row.origin, "refused_at": iso(row.seen_at)} for row in refused]})
