"""Calls to an installed npm package as a whole, not to one of its components."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from webapp.service.components.limits import RUN_S

PackageMethod = Literal["describe", "validate", "verify", "parse"]


@dataclass(frozen=True, slots=True)
class PackageCall:
    """One call to the package ``name``, which is installed in the npm prefix ``folder``.

    ``fields`` are the arguments of the method. ``user``, ``hosts``, ``allow_hosts`` and ``mask`` are those of a Call.
    The value of the Reply by method:

    - describe: the contents of the package (see ``webapp.service.pieces.metadata``)
    - validate: ``{"valid": bool, "error"?: sentence}``
    - verify: whether the request came from the provider
    - parse: ``{"event", "identifier", "reply"}``
    """

    folder: Path
    name: str
    method: PackageMethod
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)
    hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    user: str = ""
    mask: tuple[str, ...] = field(default=(), repr=False)
    deadline_s: float = RUN_S
