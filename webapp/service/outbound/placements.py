"""Where a credential goes in a request: a header, a parameter, a member of the body, or a signature over all of it.

What comes of it prints without its secret values.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webapp.service.outbound.request_signing import PARTS, Sign, signer
from webapp.service.outbound.templates import Fields, fields_in, fill

PlacementKind = Literal["bearer", "header", "query", "basic", "body", "sigv4", "oauth1"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one credential goes.

    bearer: `Authorization: Bearer <value>` (RFC 6750) · header and query: `name` = value · body: `name` = value in
    a JSON object or form · basic: `username` and `password` (RFC 7617), either of which may be empty · sigv4 and
    oauth1: it signs the final request with `parts` (see :mod:`request_signing`).
    `value`, `username`, `password` and what is in `parts` are templates such as `Token token={api_key}`.
    """

    kind: PlacementKind
    name: str = ""
    value: str = "{access_token}"
    username: str = ""
    password: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Applied:
    """The headers, query parameters and members of the body to add to a request, and the function that signs it."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, str] = field(default_factory=dict, repr=False)
    sign: Sign | None = field(default=None, repr=False)


def apply(placements: Sequence[Placement], fields: Fields) -> Applied:
    """Fill every placement; raises TemplateError for a missing field or a value that does not fit."""
    headers: dict[str, str] = {}
    params: dict[str, str] = {}
    body: dict[str, str] = {}
    sign: Sign | None = None
    for placement in placements:
        if placement.kind == "sigv4" or placement.kind == "oauth1":
            sign = signer(placement.kind, _parts(placement.parts, PARTS[placement.kind][1], fields))
        elif placement.kind == "bearer":
            headers["Authorization"] = f"Bearer {fill(placement.value, fields)}"
        elif placement.kind == "basic":
            headers["Authorization"] = basic(fill(placement.username, fields), fill(placement.password, fields))
        else:
            place = {"header": headers, "query": params, "body": body}[placement.kind]
            place[placement.name] = fill(placement.value, fields)
    return Applied(headers, params, body, sign)


def _parts(templates: Mapping[str, str], optional: Sequence[str], fields: Fields) -> dict[str, str]:
    """The parts of a signature; those that are optional only where their fields are filled."""
    return {
        name: fill(template, fields)
        for name, template in templates.items()
        if name not in optional or all(fields.get(needed) for needed in fields_in(template))
    }


def basic(user: str, password: str) -> str:
    """The value of an Authorization header for Basic authentication, in UTF-8 (RFC 7617, 2.1)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode(errors="replace")).decode("ascii")
