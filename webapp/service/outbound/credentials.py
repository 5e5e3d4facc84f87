"""Putting a credential into a request, as data: an app declares placements, the account has the fields' values.

Nothing is sent here. The result prints without its values, because each of them is a secret.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webapp.service.outbound.messages import basic
from webapp.service.outbound.templates import Fields, fill

PlacementKind = Literal["bearer", "header", "query", "basic", "body"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one credential goes.

    bearer: `Authorization: Bearer <value>` (RFC 6750) · header and query: `name` = value · body: `name` = value in
    a JSON object or form · basic: `username` and `password` (RFC 7617), either of which may be empty.
    `value`, `username` and `password` are templates such as `Token token={api_key}`.
    """

    kind: PlacementKind
    name: str = ""
    value: str = "{access_token}"
    username: str = ""
    password: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """What to add to a request: headers, query parameters and members of the body."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, str] = field(default_factory=dict, repr=False)


def apply(placements: Sequence[Placement], fields: Fields) -> Applied:
    """Fill every placement; raises TemplateError for a missing field or a value that does not fit."""
    headers: dict[str, str] = {}
    params: dict[str, str] = {}
    body: dict[str, str] = {}
    for placement in placements:
        if placement.kind == "bearer":
            headers["Authorization"] = f"Bearer {fill(placement.value, fields)}"
        elif placement.kind == "basic":
            headers["Authorization"] = basic(fill(placement.username, fields), fill(placement.password, fields))
        else:
            place = {"header": headers, "query": params, "body": body}[placement.kind]
            place[placement.name] = fill(placement.value, fields)
    return Applied(headers, params, body)
